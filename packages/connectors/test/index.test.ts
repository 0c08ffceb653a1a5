import { assert, it } from "@effect/vitest"
import * as Connectors from "@kelpie/connectors"
import { Plugins } from "@kelpie/core"
import { Effect, type Layer, Option } from "effect"

// compiles only if no definition needs anything from the host
const layer: Layer.Layer<Plugins> = Plugins.layer(Connectors.all)

it.effect("all definitions are found by their names, and by the names of Connect", () =>
  Effect.gen(function*() {
    const plugins = yield* Plugins
    const found = [
      ["source", "FileSource"],
      ["source", "FileStreamSource"],
      ["source", "org.apache.kafka.connect.file.FileStreamSourceConnector"],
      ["sink", "FileStreamSinkConnector"],
      ["source", "SqliteSource"],
      ["sink", "SqliteSink"],
      ["source", "GeneratorSource"],
      ["transform", "RegexRouter"],
      ["predicate", "RecordIsTombstone"],
      ["variables", "env"]
    ] as const
    for (const [kind, name] of found) assert.isTrue(Option.isSome(plugins.find(kind, name)), name)
    const names = Connectors.all.map(({ kind, name }) => `${kind} ${name}`)
    assert.strictEqual(new Set(names).size, names.length)
  }).pipe(Effect.provide(layer)))

it("every key of a connector has documentation", () => {
  for (const { fields, kind, name } of Connectors.all) {
    if (kind !== "source" && kind !== "sink") continue
    for (const key of Object.values(fields)) assert.isNotEmpty(key.options.doc ?? "", `${name}: ${key.name}`)
  }
})
