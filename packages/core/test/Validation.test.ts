import { assert, it } from "@effect/vitest"
import {
  ConfigInfos,
  ConfigKey,
  Converter,
  Plugins,
  RecordPredicate,
  SinkConnector,
  SourceConnector,
  Transform,
  Validation,
  VariableProvider
} from "@kelpie/core"
import { Effect, Option, Redacted, Result, Schema, Stream } from "effect"

const LinesSource = SourceConnector.make("LinesSource", {
  version: "1.2.0",
  aliases: ["org.example.LinesSourceConnector"],
  config: {
    file: ConfigKey.String("file", { optional: true, importance: "high", doc: "The file to read." }),
    topic: ConfigKey.String("topic"),
    batchSize: ConfigKey.Int("batch.size", { default: 2000, min: 1, group: "Reading" }),
    token: ConfigKey.Redacted("token", { default: Redacted.make("none"), group: "Reading" })
  },
  task: () => Stream.empty
})
const LinesSink = SinkConnector.make("LinesSink", {
  version: "1.0.0",
  config: { file: ConfigKey.String("file", { optional: true }) },
  task: () => Effect.succeed({ put: () => Effect.void })
})
/** Has a key that the framework has too. */
const OwnTasks = SourceConnector.make("OwnTasks", {
  version: "1.0.0",
  config: { tasksMax: ConfigKey.Int("tasks.max", { default: 7, max: 9, doc: "Never more than nine." }) },
  task: () => Stream.empty
})
const TextConverter = Converter.make("TextConverter", {
  version: "3.1",
  config: { encoding: ConfigKey.Literals(["utf8", "latin1"])("encoding", { default: "utf8", group: "Text" }) },
  open: () => ({ toBytes: () => null, fromBytes: () => ({ value: null }) })
})
const HeaderText = Converter.make("HeaderText", {
  kind: "header_converter",
  version: "1",
  config: {},
  open: () => ({ toBytes: () => null, fromBytes: () => ({ value: null }) })
})
const Rename = Transform.make("Rename", {
  version: "1",
  aliases: ["org.example.Rename$Value"],
  config: { to: ConfigKey.String("to"), predicate: ConfigKey.Int("predicate", { optional: true }) },
  apply: () => (record) => record
})
const TopicIs = RecordPredicate.make("TopicIs", {
  version: "1",
  config: { topic: ConfigKey.String("topic") },
  test: () => () => true
})
const env = VariableProvider.make("env", {
  version: "1",
  config: {},
  open: () => Effect.succeed(() => Effect.succeed({ values: {} }))
})

const defaults = {
  "key.converter": "TextConverter",
  "value.converter": "TextConverter",
  "header.converter": "HeaderText"
}
const ok = { name: "orders", "connector.class": "LinesSource", topic: "lines" }
type Config = Record<string, string>

const run = Effect.fnUntraced(function*(raw: Config, resolved: Config = raw, more: Partial<Validation.Config> = {}) {
  const plugins = yield* Plugins
  return yield* Effect.fromResult(Validation.validate(plugins, defaults, { raw, resolved, ...more }))
})
const errorsOf = ({ problems }: Validation.Validated) =>
  Object.fromEntries(problems.map(({ errors, key }) => [key, errors]))
const errors = (raw: Config, resolved?: Config, more?: Partial<Validation.Config>) =>
  Effect.map(run(raw, resolved, more), errorsOf)
const infoOf = (infos: ConfigInfos.ConfigInfos, key: string) => infos.configs.find(({ value }) => value.name === key)

it.layer(Plugins.layer([LinesSource, LinesSink, OwnTasks, TextConverter, HeaderText, Rename, TopicIs, env]))(
  "Validation.validate",
  (it) => {
    it.effect("answers a right configuration of a source", () =>
      Effect.gen(function*() {
        const { connector, infos, problems, settings, warnings } = yield* run({ ...ok, "tasks.max": "2" })
        assert.strictEqual(connector.name, "LinesSource")
        assert.deepStrictEqual([problems, warnings], [[], []])
        assert.strictEqual(settings?.tasksMax, 2)
        assert.strictEqual(infos.name, "LinesSource")
        assert.strictEqual(infos.error_count, 0)
        assert.deepStrictEqual(infos.groups, [
          "Common",
          "Transforms",
          "Predicates",
          "Error Handling",
          "Task Reconfiguration",
          "Automatic Restart",
          "Placement",
          "Topic Creation",
          "Exactly Once Support",
          "offsets.topic",
          "Reading"
        ])
        assert.deepStrictEqual(infoOf(infos, "tasks.max"), {
          definition: {
            name: "tasks.max",
            type: "INT",
            required: false,
            default_value: "1",
            importance: "HIGH",
            documentation: "The connector splits its work into at most so many tasks.",
            group: "Common",
            order_in_group: 4,
            width: "SHORT",
            display_name: "Tasks max",
            dependents: []
          },
          value: { name: "tasks.max", value: "2", recommended_values: [], errors: [], visible: true }
        })
      }))

    it.effect("shows a connector's own keys after the framework's, with defaults in their place", () =>
      Effect.gen(function*() {
        const { infos } = yield* run(ok)
        assert.deepStrictEqual(
          infos.configs.slice(-4).map(({ definition, value }) => [
            definition.name,
            definition.type,
            definition.required,
            definition.default_value,
            definition.importance,
            definition.group,
            definition.order_in_group,
            definition.display_name,
            value.value
          ]),
          [
            ["file", "STRING", false, null, "HIGH", null, -1, "file", null],
            ["topic", "STRING", true, null, "HIGH", null, -1, "topic", "lines"],
            ["batch.size", "INT", false, "2000", "MEDIUM", "Reading", 1, "batch.size", "2000"],
            ["token", "PASSWORD", false, "[hidden]", "MEDIUM", "Reading", 2, "token", "[hidden]"]
          ]
        )
      }))

    it.effect("has the order and the places of Connect's keys", () =>
      Effect.gen(function*() {
        const { infos } = yield* run({ ...ok, "connector.class": "LinesSink", topics: "a" })
        const places = infos.configs
          .filter(({ definition }) => ["Common", "Error Handling"].includes(definition.group ?? ""))
          .map(({ definition: { name, order_in_group, type, width } }) => `${name} ${type} ${order_in_group} ${width}`)
        assert.deepStrictEqual(places, [
          "name STRING 1 MEDIUM",
          "connector.class STRING 2 LONG",
          "connector.plugin.version STRING 3 MEDIUM",
          "tasks.max INT 4 SHORT",
          "tasks.max.enforce BOOLEAN 5 SHORT",
          "key.converter CLASS 6 SHORT",
          "key.converter.plugin.version STRING 7 SHORT",
          "value.converter CLASS 8 SHORT",
          "value.converter.plugin.version STRING 9 SHORT",
          "header.converter CLASS 10 SHORT",
          "header.converter.plugin.version STRING 11 SHORT",
          "config.action.reload STRING 14 MEDIUM",
          "errors.retry.timeout LONG 1 MEDIUM",
          "errors.retry.delay.max.ms LONG 2 MEDIUM",
          "errors.tolerance STRING 3 SHORT",
          "errors.log.enable BOOLEAN 4 SHORT",
          "errors.log.include.messages BOOLEAN 5 SHORT",
          "topics LIST 4 LONG",
          "topics.regex STRING 4 LONG",
          "errors.deadletterqueue.topic.name STRING 6 MEDIUM",
          "errors.deadletterqueue.topic.replication.factor SHORT 7 MEDIUM",
          "errors.deadletterqueue.context.headers.enable BOOLEAN 8 MEDIUM"
        ])
      }))

    it.effect("shows the runtime's converters and what there is to choose from", () =>
      Effect.gen(function*() {
        const { infos } = yield* run(ok)
        const key = infoOf(infos, "key.converter")
        assert.deepStrictEqual([key?.definition.default_value, key?.value.value], ["TextConverter", "TextConverter"])
        assert.isTrue(key?.value.recommended_values.includes("TextConverter"))
        assert.isFalse(key?.value.recommended_values.includes("HeaderText"))
        const header = infoOf(infos, "header.converter")?.value.recommended_values ?? []
        assert.includeMembers([...header], ["HeaderText", "TextConverter"])
        assert.strictEqual(new Set(header).size, header.length)
        const version = infoOf(infos, "value.converter.plugin.version")
        assert.deepStrictEqual([version?.value.value, version?.value.recommended_values], ["3.1", ["3.1"]])
      }))

    it.effect("tells what is wrong key by key, each once", () =>
      Effect.gen(function*() {
        const validated = yield* run({
          name: "",
          "connector.class": "LinesSource",
          "tasks.max": "many",
          "errors.tolerance": "some",
          "batch.size": "0",
          "key.converter": "no.such.Thing",
          "value.converter": "TextConverter",
          "value.converter.encoding": "utf9"
        })
        assert.deepStrictEqual(errorsOf(validated), {
          name: ["Invalid value  for configuration name: String may not be empty"],
          "tasks.max": ["Invalid value many for configuration tasks.max: Not a number of type INT"],
          "key.converter": [
            "Invalid value no.such.Thing for configuration key.converter: Class no.such.Thing could not be found."
          ],
          "errors.tolerance": [
            "Invalid value some for configuration errors.tolerance: String must be one of: none, all"
          ],
          topic: ["Missing required configuration \"topic\" which has no default value."],
          "batch.size": ["Invalid value 0 for configuration batch.size: Value must be at least 1"],
          "value.converter.encoding": [
            "Invalid value utf9 for configuration value.converter.encoding: String must be one of: utf8, latin1"
          ]
        })
        assert.strictEqual(validated.infos.error_count, 7)
        assert.strictEqual(validated.settings, undefined)
        assert.strictEqual(infoOf(validated.infos, "tasks.max")?.value.value, "many")
        assert.strictEqual(infoOf(validated.infos, "key.converter.plugin.version")?.value.visible, false)
        assert.strictEqual(
          Validation.message(validated.problems.slice(0, 2)),
          "Connector configuration is invalid and contains the following 2 error(s):\n" +
            "Invalid value  for configuration name: String may not be empty\n" +
            "Invalid value many for configuration tasks.max: Not a number of type INT\n" +
            "You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
        )
      }))

    it.effect("refuses a converter of another kind, and hints at a misspelt one", () =>
      Effect.gen(function*() {
        const found = yield* errors({ ...ok, "key.converter": "Rename", "value.converter": "TextConvertor" })
        assert.deepStrictEqual(found, {
          "key.converter": [
            "Invalid value Rename for configuration key.converter: Class Rename does not implement the Converter interface"
          ],
          "value.converter": [
            "Invalid value TextConvertor for configuration value.converter: Class TextConvertor could not be found. Near matches are: TextConverter"
          ]
        })
        assert.deepStrictEqual(yield* errors({ ...ok, "header.converter": "TextConverter" }), {})
        assert.deepStrictEqual(Object.keys(yield* errors({ ...ok, "key.converter": "HeaderText" })), ["key.converter"])
      }))

    it.effect("includes the keys of transforms and predicates, in a group of their own", () =>
      Effect.gen(function*() {
        const validated = yield* run({
          ...ok,
          transforms: "ren",
          "transforms.ren.type": "org.example.Rename$Value",
          "transforms.ren.to": "x",
          "transforms.ren.predicate": "p",
          predicates: "p",
          "predicates.p.type": "TopicIs"
        })
        assert.deepStrictEqual(errorsOf(validated), {
          "predicates.p.topic": ["Missing required configuration \"predicates.p.topic\" which has no default value."]
        })
        const shown = validated.infos.configs
          .filter(({ definition }) => /^(transforms|predicates)\./.test(definition.name))
          .map(({ definition: { display_name, group, name, order_in_group, type }, value }) =>
            [name, type, group, order_in_group, display_name, value.value].join("|")
          )
        assert.deepStrictEqual(shown, [
          "transforms.ren.type|CLASS|Transforms: ren|0|Transformation type for ren|org.example.Rename$Value",
          "transforms.ren.plugin.version|STRING|Transforms: ren|1|Transformation version for ren|1",
          "transforms.ren.predicate|STRING|Transforms: ren|2|predicate|p",
          "transforms.ren.negate|BOOLEAN|Transforms: ren|3|negate|false",
          "transforms.ren.to|STRING|Transforms: ren|4|to|x",
          "predicates.p.type|CLASS|Predicates: p|0|Predicate type for p|TopicIs",
          "predicates.p.plugin.version|STRING|Predicates: p|1|Predicate version for p|1",
          "predicates.p.topic|STRING|Predicates: p|2|topic|"
        ])
        assert.deepStrictEqual(infoOf(validated.infos, "transforms.ren.type")?.value.recommended_values, ["Rename"])
      }))

    it.effect("refuses an unknown transform, and does not judge its keys", () =>
      Effect.gen(function*() {
        const validated = yield* run({
          ...ok,
          transforms: "a",
          "transforms.a.type": "no.such.Transform",
          "transforms.a.whatever": "1"
        })
        assert.deepStrictEqual(errorsOf(validated), {
          "transforms.a.type": [
            "Invalid value no.such.Transform for configuration transforms.a.type: Class no.such.Transform could not be found."
          ]
        })
        assert.deepStrictEqual(validated.warnings, [])
      }))

    it.effect("refuses a predicate that is not defined, and duplicate aliases", () =>
      Effect.gen(function*() {
        const a = { ...ok, "transforms.a.type": "Rename", "transforms.a.to": "x" }
        assert.deepStrictEqual(yield* errors({ ...a, transforms: "a", "transforms.a.predicate": "nope" }), {
          "transforms.a.predicate": [
            "Invalid value nope for configuration transforms.a.predicate: It is not defined in predicates"
          ]
        })
        assert.deepStrictEqual(yield* errors({ ...a, transforms: "a,a" }), {
          transforms: ["Invalid value [a, a] for configuration transforms: Duplicate alias provided."]
        })
      }))

    it.effect("tells both keys when a sink has no topics", () =>
      Effect.gen(function*() {
        const { infos, problems } = yield* run({ name: "s", "connector.class": "LinesSink" })
        assert.deepStrictEqual(problems, [
          { key: "topics", errors: ["Must configure one of topics or topics.regex"] },
          { key: "topics.regex", errors: ["Must configure one of topics or topics.regex"] }
        ])
        assert.strictEqual(infos.error_count, 2)
      }))

    it.effect("lets a connector redefine a key of the framework, at its place", () =>
      Effect.gen(function*() {
        const { infos, problems } = yield* run({ name: "o", "connector.class": "OwnTasks", "tasks.max": "10" })
        const own = infos.configs.filter(({ definition }) => definition.name === "tasks.max")
        assert.strictEqual(own.length, 1)
        assert.strictEqual(own[0]?.definition.documentation, "Never more than nine.")
        assert.strictEqual(infos.configs[3]?.definition.name, "tasks.max")
        assert.deepStrictEqual(problems, [{
          key: "tasks.max",
          errors: ["Invalid value 10 for configuration tasks.max: Value must be no more than 9"]
        }])
        const zero = yield* errors({ name: "o", "connector.class": "OwnTasks", "tasks.max": "0" })
        assert.deepStrictEqual(zero, {
          "tasks.max": ["Invalid value 0 for configuration tasks.max: Value must be at least 1"]
        })
      }))

    it.effect("accepts keys that nobody reads, and says so", () =>
      Effect.gen(function*() {
        const { infos, problems, warnings } = yield* run({
          ...ok,
          "task.max": "3",
          "error.tolerance": "all",
          zzzzzzzzzzzz: "1",
          "key.converter.encoding": "latin1",
          "transforms.gone.type": "Rename"
        })
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(warnings.map((warning) => warning.message), [
          "task.max is not read by anybody; did you mean tasks.max?",
          "error.tolerance is not read by anybody; did you mean errors.tolerance?",
          "zzzzzzzzzzzz is not read by anybody",
          "key.converter.encoding is not read: without key.converter the converter of the runtime and its settings are used",
          "transforms.gone.type is not read by anybody"
        ])
        assert.strictEqual(infoOf(infos, "zzzzzzzzzzzz"), undefined)
      }))

    it.effect("accepts client overrides as they are, and hides those that look like secrets", () =>
      Effect.gen(function*() {
        const { infos, problems, warnings } = yield* run({
          ...ok,
          "producer.override.linger.ms": "5",
          "admin.override.sasl.jaas.config": "password=hunter2"
        })
        assert.deepStrictEqual([problems, warnings], [[], []])
        assert.deepStrictEqual(
          infos.configs.slice(-2).map((
            { definition, value }
          ) => [definition.display_name, definition.type, value.value]),
          [["linger.ms", "STRING", "5"], ["sasl.jaas.config", "PASSWORD", "[hidden]"]]
        )
      }))

    it.effect("hides secrets and never shows what a variable stands for", () =>
      Effect.gen(function*() {
        const raw = {
          ...ok,
          token: "${env:TOKEN}",
          file: "${env:FILE}",
          "batch.size": "${env:SIZE}",
          topic: "${env:TOPIC}"
        }
        const resolved = { ...raw, token: "hunter2", file: "/secret/place", "batch.size": "-271828", topic: "t" }
        const { infos, problems, warnings } = yield* run(raw, resolved)
        assert.deepStrictEqual(problems, [{
          key: "batch.size",
          errors: ["Invalid value ${env:SIZE} for configuration batch.size: Value must be at least 1"]
        }])
        assert.notMatch(JSON.stringify([infos, warnings]), /hunter2|secret|271828/)
        assert.strictEqual(infoOf(infos, "token")?.value.value, "${env:TOKEN}")
        assert.strictEqual(infoOf(infos, "file")?.value.value, "${env:FILE}")
        const plain = yield* run({ ...ok, token: "hunter2" })
        assert.strictEqual(infoOf(plain.infos, "token")?.value.value, "[hidden]")
        const mixed = yield* run({ ...ok, token: "user-${env:TOKEN}" })
        assert.strictEqual(infoOf(mixed.infos, "token")?.value.value, "[hidden]")
      }))

    it.effect("refuses variables whose provider nobody defined, whoever reads the key", () =>
      Effect.gen(function*() {
        const found = yield* errors({
          ...ok,
          file: "a ${enf:FILE} b",
          token: "${nope:a:b}",
          extra: "${nope:a}",
          "tasks.max": "${nope:n}",
          "admin.override.client.id": "${nope:c}"
        })
        assert.deepStrictEqual(found, {
          "tasks.max": ["Invalid value ${nope:n} for configuration tasks.max: No variable provider is called nope"],
          file: [
            "Invalid value a ${enf:FILE} b for configuration file: No variable provider is called enf; near matches are: env"
          ],
          token: ["Invalid value [hidden] for configuration token: No variable provider is called nope"],
          "admin.override.client.id": [
            "Invalid value ${nope:c} for configuration admin.override.client.id: No variable provider is called nope"
          ],
          extra: ["Invalid value [hidden] for configuration extra: No variable provider is called nope"]
        })
        assert.deepStrictEqual(yield* errors({ ...ok, file: "${no colon} $${} ${:x} ${open:" }), {})
      }))

    it.effect("tells why a variable could not be resolved", () =>
      Effect.gen(function*() {
        const raw = { ...ok, file: "${env:FILE}", extra: "${env:X}" }
        const found = yield* errors(raw, ok, { unresolved: new Map([["file", "FILE is not set"]]) })
        assert.deepStrictEqual(found, {
          file: ["Invalid value ${env:FILE} for configuration file: FILE is not set"],
          extra: ["Invalid value [hidden] for configuration extra: Its variable cannot be resolved"]
        })
        const lists = yield* errors({ ...ok, transforms: "${nope:list}" })
        assert.deepStrictEqual(Object.keys(lists), ["transforms"])
      }))

    it.effect("promises exactly once only where the engine keeps it", () =>
      Effect.gen(function*() {
        const required = { ...ok, "exactly.once.support": "required" }
        assert.deepStrictEqual(Object.keys(yield* errors(required)), ["exactly.once.support"])
        assert.deepStrictEqual(yield* errors(required, required, { exactlyOnce: true }), {})
      }))

    it.effect("refuses a version that is not there", () =>
      Effect.gen(function*() {
        const text =
          "Plugin LinesSource not found that matches the version range [2.0,2.0], available versions: [1.2.0]"
        assert.deepStrictEqual(yield* errors({ ...ok, "connector.plugin.version": "2.0" }), {
          "connector.class": [text],
          "connector.plugin.version": [text]
        })
        assert.deepStrictEqual(yield* errors({ ...ok, "connector.plugin.version": "[1.0,2.0)" }), {})
        assert.deepStrictEqual(Object.keys(yield* errors({ ...ok, "key.converter.plugin.version": "9" })), [
          "key.converter.plugin.version"
        ])
      }))

    it.effect("fails for a class that is missing or unknown, with near matches", () =>
      Effect.gen(function*() {
        const missing = yield* Effect.flip(run({ name: "a" }))
        assert.strictEqual(missing.message, "Connector config contains no connector type")
        const near = yield* Effect.flip(run({ name: "a", "connector.class": "org.example.LineSource" }))
        assert.deepStrictEqual(near.near, ["LinesSource"])
        assert.strictEqual(
          near.message,
          "Failed to find any class that implements Connector and which name matches org.example.LineSource, near matches are: LinesSource"
        )
        for (const name of ["", "TextConverter", "linessource!!!", "__proto__", " LinesSource"]) {
          const unknown = yield* Effect.flip(run({ name: "a", "connector.class": name }))
          assert.isTrue(
            unknown.message.startsWith(
              `Failed to find any class that implements Connector and which name matches ${name}, `
            )
          )
        }
      }))

    it.effect("finds a connector by its other name, and keeps the name that was written", () =>
      Effect.gen(function*() {
        const { connector, infos } = yield* run({ ...ok, "connector.class": "org.example.LinesSourceConnector" })
        assert.strictEqual(connector.name, "LinesSource")
        assert.strictEqual(infos.name, "org.example.LinesSourceConnector")
      }))

    it.effect("merges what a connector's own validation found", () =>
      Effect.gen(function*() {
        const { connector, infos } = yield* run(ok)
        const problems = Validation.problemsOf(connector.fields, [
          { property: "batchSize", message: "too large for this file" },
          { property: "batchSize", message: "too large for this file" },
          { property: "elsewhere", message: "no route" }
        ])
        assert.deepStrictEqual(problems.map(({ key }) => key), ["batch.size", "batch.size", "elsewhere"])
        const merged = Validation.withProblems(infos, problems)
        assert.strictEqual(merged.error_count, 2)
        assert.deepStrictEqual(infoOf(merged, "batch.size")?.value.errors, ["too large for this file"])
        assert.deepStrictEqual(infoOf(merged, "elsewhere")?.value.errors, ["no route"])
        assert.strictEqual(merged.configs.length, infos.configs.length + 1)
        assert.strictEqual(infos.error_count, 0)
        assert.strictEqual(Validation.withProblems(infos, []), infos)
      }))

    it.effect("bounds what a hostile configuration can make of the answer", () =>
      Effect.gen(function*() {
        const spaces = " ".repeat(100_000)
        const { infos, problems, warnings } = yield* run({
          ...ok,
          transforms: Array.from({ length: 20_000 }, (_, i) => `a${i}`).join(),
          predicates: `a${spaces}b`,
          "batch.size": `1${"1".repeat(100_000)}x`,
          "connector.plugin.version": `[${spaces}`,
          file: "${".repeat(100_000),
          "topic.creation.groups": Array.from({ length: 20_000 }, (_, i) => `g${i}`).join(),
          ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`tasks.max${i}`, "1"]))
        })
        assert.includeMembers(problems.map(({ key }) => key), [
          "transforms",
          "topic.creation.groups",
          "batch.size",
          "connector.plugin.version"
        ])
        assert.isBelow(infos.configs.length, 1_000)
        assert.strictEqual(warnings.length, 5_000)
        assert.strictEqual(warnings.filter(({ message }) => message.includes("did you mean")).length, 20)
      }))

    const keys = [
      ...Object.keys(ok),
      "tasks.max",
      "transforms",
      "predicates",
      "transforms.a.type",
      "transforms.a.to",
      "transforms.a.predicate",
      "transforms.a.negate",
      "predicates.a.type",
      "key.converter",
      "key.converter.encoding",
      "topics",
      "topics.regex",
      "errors.deadletterqueue.topic.name",
      "errors.tolerance",
      "topic.creation.groups",
      "topic.creation.a.include",
      "restart.backoff.ms",
      "restart.backoff.max.ms",
      "producer.override.acks",
      "__proto__",
      "constructor",
      "token"
    ] as const
    const texts = [
      "",
      "a",
      "a,b",
      "__proto__",
      "1",
      "-1",
      "true",
      "[",
      "Rename",
      "TopicIs",
      "TextConverter",
      "${nope:x}",
      "${env:X}"
    ]
    const Entry = Schema.Struct({
      key: Schema.Union([Schema.Literals(keys), Schema.String]),
      text: Schema.Union([Schema.Literals(texts), Schema.String]),
      resolved: Schema.Union([Schema.Literals(texts), Schema.String])
    })
    it.effect.prop(
      "any configuration gets an answer that is right in itself",
      { entries: Schema.Array(Entry), sink: Schema.Boolean },
      Effect.fnUntraced(function*({ entries, sink }) {
        const base = { ...ok, "connector.class": sink ? "LinesSink" : "LinesSource" }
        const class_ = "connector.class"
        const raw = {
          ...base,
          ...Object.fromEntries(entries.map(({ key, text }) => [key, text])),
          [class_]: base[class_]
        }
        const resolved = {
          ...raw,
          ...Object.fromEntries(entries.map(({ key, resolved, text }) => [key, text.includes("${") ? resolved : text])),
          [class_]: base[class_]
        }
        const { infos, problems, settings } = yield* run(raw, resolved)
        const decoded = yield* Schema.decodeUnknownEffect(ConfigInfos.ConfigInfos, { onExcessProperty: "error" })(infos)
        assert.strictEqual(infos.error_count, infos.configs.reduce((sum, { value }) => sum + value.errors.length, 0))
        assert.strictEqual(infos.error_count, problems.reduce((sum, { errors }) => sum + errors.length, 0))
        assert.strictEqual(new Set(infos.configs.map(({ value }) => value.name)).size, infos.configs.length)
        for (const { definition, value } of decoded.configs) assert.strictEqual(definition.name, value.name)
        if (problems.length === 0) assert.strictEqual(settings?.class, base[class_])
      }),
      { arbitrary: { runs: 300 } }
    )
  }
)

it.layer(Plugins.layer([LinesSource, LinesSink, Rename, TopicIs, TextConverter, HeaderText, OwnTasks]))(
  "Validation.definitions",
  (it) => {
    it.effect("has the own keys of a connector first, then the framework's", () =>
      Effect.gen(function*() {
        const plugins = yield* Plugins
        const source = Option.getOrThrow(Validation.plugin(plugins, "org.example.LinesSourceConnector"))
        const definitions = Validation.definitions(source)
        assert.deepStrictEqual(definitions.slice(0, 7).map(({ default_value, name }) => [name, default_value]), [
          ["file", null],
          ["topic", null],
          ["batch.size", "2000"],
          ["token", "[hidden]"],
          ["name", null],
          ["connector.class", null],
          ["connector.plugin.version", "1.2.0"]
        ])
        assert.strictEqual(definitions.find(({ name }) => name === "key.converter")?.default_value, null)
        assert.isTrue(definitions.some(({ name }) => name === "topic.creation.groups"))
        assert.isFalse(definitions.some(({ name }) => name === "topics"))
        for (const definition of definitions) {
          assert.deepStrictEqual(Object.keys(definition), [
            "name",
            "type",
            "required",
            "default_value",
            "importance",
            "documentation",
            "group",
            "order_in_group",
            "width",
            "display_name",
            "dependents"
          ])
        }
      }))

    it.effect("has only the own keys of other plugins", () =>
      Effect.gen(function*() {
        const plugins = yield* Plugins
        const names = (name: string) =>
          Option.map(
            Validation.plugin(plugins, name),
            (plugin) => Validation.definitions(plugin).map(({ name }) => name)
          )
        assert.deepStrictEqual(names("Rename"), Option.some(["to", "predicate"]))
        assert.deepStrictEqual(names("TopicIs"), Option.some(["topic"]))
        assert.deepStrictEqual(names("TextConverter"), Option.some(["encoding"]))
        assert.deepStrictEqual(names("HeaderText"), Option.some([]))
        assert.deepStrictEqual(names("nobody"), Option.none())
      }))

    it.effect("names each key once when a connector redefines one", () =>
      Effect.gen(function*() {
        const plugins = yield* Plugins
        const own = Option.getOrThrow(Validation.plugin(plugins, "OwnTasks"))
        const tasks = Validation.definitions(own).filter(({ name }) => name === "tasks.max")
        assert.deepStrictEqual(tasks.map((definition) => definition.default_value), ["7"])
      }))
  }
)

it("Validation.versionProblem understands versions and ranges", () => {
  const problem = (wanted: string) => Validation.versionProblem({ name: "X", version: "1.10.0" }, wanted)
  for (
    const wanted of ["1.10", "1.10.0", "latest", "[1.9,2)", "(,1.10]", "[1.10]", "[1,1.2],[1.5,)", "(1.10.0-rc1,)"]
  ) {
    assert.strictEqual(problem(wanted), undefined, wanted)
  }
  assert.strictEqual(
    problem("9.9"),
    "Plugin X not found that matches the version range [9.9,9.9], available versions: [1.10.0]"
  )
  assert.strictEqual(problem(""), "Plugin X not found that matches the version range [,], available versions: [1.10.0]")
  assert.strictEqual(
    problem("(1.10,2.0)"),
    "Plugin X not found that matches the version range (1.10,2.0), available versions: [1.10.0]"
  )
  for (const wanted of ["[[oops", "[1.0", "1.0]", "[1,2,3]", "x,y"]) {
    assert.strictEqual(problem(wanted), `Invalid version specification: ${wanted}`, wanted)
  }
})

it("Validation.normalise turns numbers and booleans into texts", () => {
  const json: unknown = JSON.parse(`{"a":"x","b":1.50,"c":true,"d":-0,"name":null,"__proto__":"p"}`)
  const config = Result.getOrThrow(Validation.normalise(json))
  assert.deepStrictEqual(Object.entries(config), [["a", "x"], ["b", "1.5"], ["c", "true"], ["d", "0"], [
    "__proto__",
    "p"
  ]])
  assert.deepStrictEqual(Result.getOrThrow(Validation.normalise({ big: 12345678901234567890n, gone: undefined })), {
    big: "12345678901234567890"
  })
  assert.deepStrictEqual(Result.getOrThrow(Validation.normalise({ name: 42 })), { name: "42" })
})

it("Validation.normalise refuses nulls, nested values and rounded numbers, naming each key", () => {
  assert.deepStrictEqual(
    Validation.normalise({ a: null, b: { x: 1 }, c: ["x"], d: 12345678901234567000, e: "fine" }),
    Result.fail([
      { key: "a", errors: ["Null value can not be supplied as the configuration value: leave a out instead"] },
      {
        key: "b",
        errors: ["Invalid value for configuration b: expected a text, a number, true or false, but got an object"]
      },
      {
        key: "c",
        errors: ["Invalid value for configuration c: expected a text, a number, true or false, but got a list"]
      },
      {
        key: "d",
        errors: ["Invalid value for configuration d: the number is too large to be kept exactly, write it in quotes"]
      }
    ])
  )
  for (
    const [json, got] of [[null, "null"], [[], "a list"], ["x", "a string"], [1, "a number"], [undefined, "nothing"]]
  ) {
    assert.deepStrictEqual(
      Validation.normalise(json),
      Result.fail([{
        key: "config",
        errors: [`Expected a connector configuration, an object of texts by key, but got ${String(got)}`]
      }])
    )
  }
})

it("Validation.normalisePatch keeps nulls, which remove keys", () => {
  assert.deepStrictEqual(
    Validation.normalisePatch({ a: null, b: 1, name: null }),
    Result.succeed({ a: null, b: "1", name: null })
  )
  assert.isTrue(Result.isFailure(Validation.normalisePatch({ a: [] })))
})
