import { assert, describe, it } from "@effect/vitest"
import * as Predicates from "@kelpie/connectors/Predicates"
import * as Transforms from "@kelpie/connectors/Transforms"
import { type Plugin, Plugins } from "@kelpie/core"
import { Effect, Option } from "effect"

const twoSided = [
  "InsertField",
  "ReplaceField",
  "MaskField",
  "Cast",
  "TimestampConverter",
  "HoistField",
  "ExtractField",
  "Flatten"
]
const expected = [
  ...twoSided.flatMap((name) => [`${name}$Key`, `${name}$Value`]),
  "RegexRouter",
  "Filter",
  "ValueToKey"
]

describe("Transforms and Predicates", () => {
  it.effect("are found by the names of Connect, short and full", () =>
    Effect.gen(function*() {
      const plugins = yield* Plugins
      for (const name of expected) {
        for (const asked of [name, `org.apache.kafka.connect.transforms.${name}`]) {
          assert.strictEqual(Option.getOrUndefined(plugins.find("transform", asked))?.name, name)
        }
      }
      for (const name of ["TopicNameMatches", "HasHeaderKey", "RecordIsTombstone"]) {
        for (const asked of [name, `org.apache.kafka.connect.transforms.predicates.${name}`]) {
          assert.strictEqual(Option.getOrUndefined(plugins.find("predicate", asked))?.name, name)
        }
      }
    }).pipe(Effect.provide(Plugins.layer([...Transforms.all, ...Predicates.all]))))

  it("are all there, once", () => {
    assert.sameMembers(Transforms.all.map((transform) => transform.name), expected)
  })

  it("document themselves and every key", () => {
    const all: ReadonlyArray<Plugin.Any> = [...Transforms.all, ...Predicates.all]
    for (const plugin of all) {
      assert.isNotEmpty(plugin.doc ?? "", plugin.name)
      for (const key of Object.values(plugin.fields)) {
        assert.isNotEmpty(key.options.doc ?? "", `${plugin.name} ${key.name}`)
      }
    }
  })
})
