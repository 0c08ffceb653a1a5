import { assert, describe, it } from "@effect/vitest"
import { type ConfigKey, ConnectorKeys } from "@kelpie/core"
import { Result, Schema } from "effect"

const base = { name: "orders", "connector.class": "LinesSource" }

const settings = (
  config: Record<string, string>,
  kind: ConnectorKeys.ConnectorKind = "source",
  options?: ConnectorKeys.DecodeOptions
): ConnectorKeys.ConnectorSettings => Result.getOrThrow(ConnectorKeys.decode({ ...base, ...config }, kind, options))

const problems = (
  config: Record<string, string>,
  kind: ConnectorKeys.ConnectorKind = "source",
  options?: ConnectorKeys.DecodeOptions
): Readonly<Record<string, ReadonlyArray<string>>> =>
  Result.match(ConnectorKeys.decode({ ...base, ...config }, kind, options), {
    onFailure: (found) => Object.fromEntries(found.map(({ errors, key }) => [key, errors])),
    onSuccess: () => ({})
  })

describe("ConnectorKeys.decode", () => {
  it("gives a source everything by default but its name and class", () => {
    assert.deepStrictEqual(settings({}), {
      name: "orders",
      class: "LinesSource",
      tasksMax: 1,
      tasksMaxEnforce: true,
      converters: { key: undefined, value: undefined, header: undefined },
      transforms: [],
      predicates: [],
      reloadAction: "restart",
      tolerance: "none",
      retryTimeoutMillis: 0,
      retryDelayMaxMillis: 60000,
      logErrors: false,
      logMessages: false,
      reconfiguration: {
        backoffMillis: undefined,
        backoffMaxMillis: undefined,
        maxAttempts: undefined,
        timeoutMillis: undefined,
        jitter: undefined,
        exhausted: undefined
      },
      restart: {
        policy: undefined,
        backoffMillis: undefined,
        backoffMaxMillis: undefined,
        maxAttempts: undefined,
        windowMillis: undefined
      },
      placementLabels: {},
      topics: undefined,
      deadLetter: undefined,
      topicCreation: [],
      exactlyOnce: "requested",
      transactionBoundary: "poll",
      transactionBoundaryIntervalMillis: undefined,
      offsetsTopic: undefined
    })
  })

  it("gives every key's errors", () => {
    assert.deepStrictEqual(
      problems({
        "tasks.max": "0",
        "errors.tolerance": "some",
        "errors.log.enable": "maybe",
        "config.action.reload": "x"
      }),
      {
        "tasks.max": ["Invalid value 0 for configuration tasks.max: Value must be at least 1"],
        "config.action.reload": [
          "Invalid value x for configuration config.action.reload: String must be one of: none, restart"
        ],
        "errors.tolerance": ["Invalid value some for configuration errors.tolerance: String must be one of: none, all"],
        "errors.log.enable": [
          "Invalid value maybe for configuration errors.log.enable: Expected value to be either true or false"
        ]
      }
    )
    assert.deepStrictEqual(Result.isFailure(ConnectorKeys.decode({}, "source")), true)
  })

  it("takes any negative retry time but -1 for none", () => {
    assert.strictEqual(settings({ "errors.retry.timeout": "-1" }).retryTimeoutMillis, -1)
    assert.strictEqual(settings({ "errors.retry.timeout": "-5" }).retryTimeoutMillis, 0)
    assert.strictEqual(settings({ "errors.retry.delay.max.ms": "-5" }).retryDelayMaxMillis, 0)
  })
})

describe("Kelpie's own keys", () => {
  it("are read as numbers and words", () => {
    const { reconfiguration, restart } = settings({
      "reconfiguration.retry.backoff.ms": "500",
      "reconfiguration.retry.backoff.max.ms": "1000",
      "reconfiguration.retry.max.attempts": "3",
      "reconfiguration.retry.timeout.ms": "90000",
      "reconfiguration.retry.jitter": "equal",
      "reconfiguration.retry.exhausted": "park",
      "restart.policy": "on-failure",
      "restart.backoff.ms": "10",
      "restart.backoff.max.ms": "10",
      "restart.max.attempts": "1",
      "restart.window.ms": "1"
    })
    assert.deepStrictEqual(reconfiguration, {
      backoffMillis: 500,
      backoffMaxMillis: 1000,
      maxAttempts: 3,
      timeoutMillis: 90000,
      jitter: "equal",
      exhausted: "park"
    })
    assert.deepStrictEqual(restart, {
      policy: "on-failure",
      backoffMillis: 10,
      backoffMaxMillis: 10,
      maxAttempts: 1,
      windowMillis: 1
    })
  })

  for (
    const key of [
      "reconfiguration.retry.backoff.ms",
      "reconfiguration.retry.backoff.max.ms",
      "reconfiguration.retry.max.attempts",
      "reconfiguration.retry.timeout.ms",
      "restart.backoff.ms",
      "restart.backoff.max.ms",
      "restart.max.attempts",
      "restart.window.ms"
    ]
  ) {
    it(`${key} refuses negative, zero, broken and absurd values`, () => {
      for (const value of ["-1", "0", "NaN", "", "1.5", "Infinity", "315576000001", "99999999999999999999"]) {
        const errors = problems({ [key]: value })[key] ?? []
        assert.strictEqual(errors.length, 1, value)
        assert.isTrue(errors[0]?.startsWith(`Invalid value ${value} for configuration ${key}: `), errors[0])
      }
      assert.deepStrictEqual(problems({ [key]: "60000" }), {})
    })
  }

  it("may not contradict each other: the key that was written is named", () => {
    assert.deepStrictEqual(
      problems({ "reconfiguration.retry.backoff.ms": "2000", "reconfiguration.retry.backoff.max.ms": "1000" }),
      {
        "reconfiguration.retry.backoff.ms": [
          "Invalid value 2000 for configuration reconfiguration.retry.backoff.ms: Value must be no more than reconfiguration.retry.backoff.max.ms, which is 1000"
        ]
      }
    )
    assert.deepStrictEqual(problems({ "restart.backoff.ms": "300001" }), {
      "restart.backoff.ms": [
        "Invalid value 300001 for configuration restart.backoff.ms: Value must be no more than restart.backoff.max.ms, which is 300000"
      ]
    })
    assert.deepStrictEqual(problems({ "restart.backoff.max.ms": "999" }), {
      "restart.backoff.max.ms": [
        "Invalid value 999 for configuration restart.backoff.max.ms: Value must be at least restart.backoff.ms, which is 1000"
      ]
    })
  })

  it("placement.labels is read as names and values", () => {
    const labels = (text: string) => settings({ "placement.labels": text }).placementLabels
    assert.deepStrictEqual(labels(""), {})
    assert.deepStrictEqual(labels("gpu=true"), { gpu: "true" })
    assert.deepStrictEqual(labels(" gpu = true , zone=a=b,spare="), { gpu: "true", zone: "a=b", spare: "" })
    assert.isTrue(Object.hasOwn(labels("__proto__=x"), "__proto__"))
  })

  it("placement.labels refuses what is no label, and a label that stands twice", () => {
    for (const text of ["gpu", "=true", "gpu=true,,zone=a", "gpu=true,"]) {
      assert.deepStrictEqual(problems({ "placement.labels": text }), {
        "placement.labels": [
          `Invalid value [${
            text.split(",").join(", ")
          }] for configuration placement.labels: A label must have the form name=value.`
        ]
      })
    }
    assert.deepStrictEqual(problems({ "placement.labels": "zone=a,zone=b" }), {
      "placement.labels": [
        "Invalid value [zone=a, zone=b] for configuration placement.labels: Duplicate label provided."
      ]
    })
  })

  it("placement.labels may not come from a variable: the leader resolves none", () => {
    const found = problems({ "placement.labels": "zone=a" }, "source", { raw: { "placement.labels": "${env:LABELS}" } })
    assert.deepStrictEqual(found, {
      "placement.labels": [
        "Invalid value [${env:LABELS}] for configuration placement.labels: Labels may not come from a variable; write them here"
      ]
    })
  })

  it("placement.labels is read from a stored configuration too, or said to be wrong", () => {
    assert.deepStrictEqual(ConnectorKeys.placementLabels({}), Result.succeed({}))
    assert.deepStrictEqual(
      ConnectorKeys.placementLabels({ "placement.labels": "zone=a" }),
      Result.succeed({ zone: "a" })
    )
    assert.isTrue(Result.isFailure(ConnectorKeys.placementLabels({ "placement.labels": "${env:LABELS}" })))
  })

  it("take the runtime's defaults", () => {
    const defaults = {
      "restart.policy": "on-failure",
      "restart.backoff.max.ms": "900000",
      "restart.max.attempts": "many"
    }
    assert.strictEqual(settings({}, "source", { defaults }).restart.policy, "on-failure")
    assert.strictEqual(
      settings({ "restart.backoff.ms": "500000" }, "source", { defaults }).restart.backoffMillis,
      500000
    )
    assert.strictEqual(ConnectorKeys.keys(defaults).common.restartMaxAttempts.options.default, 5)
  })
})

describe("topics of a sink", () => {
  const both = "topics and topics.regex are mutually exclusive options, but both are set."
  const none = "Must configure one of topics or topics.regex"

  it("are a list or a pattern", () => {
    assert.deepStrictEqual(settings({ topics: "a, b,a" }, "sink").topics, { list: ["a", "b"] })
    assert.deepStrictEqual(settings({ "topics.regex": "a.*" }, "sink").topics, { regex: "a.*" })
    assert.deepStrictEqual(problems({}, "sink"), { topics: [none], "topics.regex": [none] })
    assert.deepStrictEqual(problems({ topics: "a", "topics.regex": "b" }, "sink"), {
      topics: [both],
      "topics.regex": [both]
    })
    assert.deepStrictEqual(problems({ topics: "a,,b" }, "sink"), {
      topics: ["Invalid value [a, , b] for configuration topics: A topic may not be empty"]
    })
  })

  it("refuse a pattern that does not compile, once", () => {
    assert.deepStrictEqual(problems({ "topics.regex": "[" }, "sink"), {
      "topics.regex": ["Invalid value [ for configuration topics.regex: Invalid regex: Unterminated character class"]
    })
    assert.deepStrictEqual(Object.keys(problems({ "topics.regex": "a)|(b" }, "sink")), ["topics.regex"])
  })

  it("match whole names", () => {
    const reads = (regex: string) =>
      ConnectorKeys.matcher(settings({ "topics.regex": regex }, "sink").topics ?? { list: [] })
    assert.isTrue(reads("orders|returns")("returns"))
    assert.isFalse(reads("orders|returns")("returns-old"))
    assert.isTrue(reads("(?i)orders-\\d")("ORDERS-7"))
    assert.isTrue(reads("a\\-b")("a-b"))
    assert.isTrue(ConnectorKeys.matcher({ list: ["a"] })("a"))
    assert.isFalse(ConnectorKeys.matcher({ list: ["a"] })("b"))
  })

  it("may not hold the dead letter topic", () => {
    const dead = { "errors.deadletterqueue.topic.name": "orders" }
    assert.deepStrictEqual(problems({ topics: "orders,b", ...dead }, "sink"), {
      "errors.deadletterqueue.topic.name": [
        "The DLQ topic 'orders' may not be included in the list of topics ('topics=[orders,b]') consumed by the connector"
      ]
    })
    assert.deepStrictEqual(Object.keys(problems({ "topics.regex": "or.*", ...dead }, "sink")), [
      "errors.deadletterqueue.topic.name"
    ])
    assert.deepStrictEqual(
      settings({ topics: "b", ...dead, "errors.deadletterqueue.context.headers.enable": "TRUE" }, "sink").deadLetter,
      { topic: "orders", replicationFactor: 3, contextHeaders: true }
    )
  })
})

describe("transforms and predicates", () => {
  it("are read in their order, with the keys under their prefix", () => {
    const { predicates, transforms } = settings({
      transforms: "b, a",
      "transforms.a.type": "Rename",
      "transforms.a.to": "x",
      "transforms.b.type": "Mask",
      "transforms.b.predicate": "p",
      "transforms.b.negate": "true",
      "transforms.b.plugin.version": "1",
      predicates: "p",
      "predicates.p.type": "TopicIs",
      "predicates.p.topic": "t"
    })
    assert.deepStrictEqual(transforms, [
      { alias: "b", type: "Mask", predicate: "p", negate: true, config: {} },
      { alias: "a", type: "Rename", predicate: undefined, negate: false, config: { to: "x" } }
    ])
    assert.deepStrictEqual(predicates, [{ alias: "p", type: "TopicIs", config: { topic: "t" } }])
  })

  it("refuse duplicate and empty aliases, and too many of them", () => {
    const type = { "transforms.a.type": "Rename" }
    assert.deepStrictEqual(problems({ transforms: "a,a", ...type }), {
      transforms: ["Invalid value [a, a] for configuration transforms: Duplicate alias provided."]
    })
    assert.deepStrictEqual(problems({ transforms: "a,", ...type }), {
      transforms: ["Invalid value [a, ] for configuration transforms: Alias may not be empty."]
    })
    const many = Array.from({ length: 10_000 }, (_, i) => `a${i}`).join()
    const found = problems({ transforms: many })
    assert.match(found["transforms"]?.[0] ?? "", /More than 100 aliases provided\.$/)
    assert.strictEqual(Object.keys(found).length, 101)
  })

  it("need a type", () => {
    assert.deepStrictEqual(problems({ transforms: "a" }), {
      "transforms.a.type": ["Missing required configuration \"transforms.a.type\" which has no default value."]
    })
  })

  it("refuse a predicate that is not defined, and a negation of nothing", () => {
    const a = { transforms: "a", "transforms.a.type": "Rename" }
    const p = { predicates: "isOrder", "predicates.isOrder.type": "TopicIs" }
    assert.deepStrictEqual(problems({ ...a, ...p, "transforms.a.predicate": "isorder" }), {
      "transforms.a.predicate": [
        "Invalid value isorder for configuration transforms.a.predicate: It is not defined in predicates, which has isOrder"
      ]
    })
    assert.deepStrictEqual(problems({ ...a, "transforms.a.negate": "true" }), {
      "transforms.a.negate": [
        "Invalid value true for configuration transforms.a.negate: There is no transforms.a.predicate to negate"
      ]
    })
  })

  it("may be called anything", () => {
    const { transforms } = settings({
      transforms: "__proto__,a.b",
      "transforms.__proto__.type": "Rename",
      "transforms.__proto__.to": "x",
      "transforms.a.b.type": "Rename"
    })
    assert.deepStrictEqual(transforms.map(({ alias, config }) => [alias, config["to"]]), [
      ["__proto__", "x"],
      ["a.b", undefined]
    ])
  })

  it("do not take their aliases from a variable, for aliases are shown", () => {
    const found = problems({ transforms: "s3cret" }, "source", { raw: { ...base, transforms: "${env:T}" } })
    assert.deepStrictEqual(found, {
      transforms: [
        "Invalid value [${env:T}] for configuration transforms: Aliases may not come from a variable; write them here"
      ]
    })
  })
})

describe("converters", () => {
  it("are the connector's own with its settings, or the runtime's with the runtime's", () => {
    const defaults = {
      "key.converter": "JsonConverter",
      "key.converter.schemas.enable": "false",
      "value.converter": "JsonConverter",
      "value.converter.schemas.enable": "false"
    }
    const { converters } = settings(
      { "value.converter": "TextConverter", "value.converter.encoding": "latin1", "key.converter.encoding": "latin1" },
      "source",
      { defaults }
    )
    assert.deepStrictEqual(converters, {
      key: { type: "JsonConverter", config: { "schemas.enable": "false" } },
      value: { type: "TextConverter", config: { encoding: "latin1" } },
      header: undefined
    })
  })
})

describe("a source", () => {
  it("reads its words in any case", () => {
    const { exactlyOnce, transactionBoundary, transactionBoundaryIntervalMillis } = settings({
      "exactly.once.support": "REQUIRED",
      "transaction.boundary": "Interval",
      "transaction.boundary.interval.ms": "0"
    })
    assert.deepStrictEqual([exactlyOnce, transactionBoundary, transactionBoundaryIntervalMillis], [
      "required",
      "interval",
      0
    ])
    assert.deepStrictEqual(Object.keys(problems({ "transaction.boundary": "connector" })), ["transaction.boundary"])
    assert.deepStrictEqual(Object.keys(problems({ "offsets.storage.topic": " " })), ["offsets.storage.topic"])
  })

  it("has topic creation groups that inherit from the group default", () => {
    assert.deepStrictEqual(
      settings({
        "topic.creation.groups": "g",
        "topic.creation.default.partitions": "6",
        "topic.creation.default.replication.factor": "-1",
        "topic.creation.g.include": "a.*,b",
        "topic.creation.g.replication.factor": "2",
        "topic.creation.g.cleanup.policy": "compact"
      }).topicCreation,
      [
        {
          group: "g",
          include: ["a.*", "b"],
          exclude: [],
          partitions: 6,
          replicationFactor: 2,
          config: { "cleanup.policy": "compact" }
        },
        { group: "default", include: [".*"], exclude: [], partitions: 6, replicationFactor: -1, config: {} }
      ]
    )
  })

  it("has to complete the group default, and writes numbers and patterns that exist", () => {
    assert.deepStrictEqual(Object.keys(problems({ "topic.creation.groups": "g" })), [
      "topic.creation.default.replication.factor",
      "topic.creation.default.partitions"
    ])
    const complete = { "topic.creation.default.partitions": "0", "topic.creation.default.replication.factor": "1" }
    assert.deepStrictEqual(
      Object.keys(problems({ "topic.creation.groups": "g", ...complete, "topic.creation.g.include": "[" })),
      ["topic.creation.g.include", "topic.creation.default.partitions"]
    )
  })
})

describe("the keys", () => {
  it("are documented, named for people and grouped, and no two are called the same", () => {
    const all: ReadonlyArray<ConfigKey.ConfigKey<any>> = [
      ConnectorKeys.common,
      ConnectorKeys.source,
      ConnectorKeys.sink,
      ConnectorKeys.transform("a"),
      ConnectorKeys.predicate("a"),
      ConnectorKeys.topicCreation("a")
    ].flatMap((fields) => Object.values<ConfigKey.ConfigKey<any>>(fields))
    for (const { name, options } of all) {
      assert.isAbove((options.doc ?? "").length, 20, name)
      assert.isString(options.displayName, name)
      assert.isString(options.group, name)
      assert.isString(options.importance, name)
    }
    assert.strictEqual(new Set(all.map((key) => key.name)).size, all.length)
  })

  it.prop(
    "decode any configuration to settings or to problems that name keys",
    { config: Schema.Record(Schema.String, Schema.String) },
    ({ config }) => {
      for (const kind of ["source", "sink"] as const) {
        const result = ConnectorKeys.decode(config, kind)
        if (Result.isFailure(result)) {
          assert.isTrue(result.failure.every(({ errors, key }) => key !== "" && errors.length > 0))
        }
      }
    }
  )
})
