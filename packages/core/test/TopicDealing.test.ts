import { assert, describe, it } from "@effect/vitest"
import { TopicDealing } from "@kelpie/core"
import type { TopicLog } from "@kelpie/core"
import { Schema } from "effect"

const bytes = (text: string) => new TextEncoder().encode(text)
const record = (part: Partial<TopicLog.LogRecord>): TopicLog.LogRecord => ({
  key: null,
  value: null,
  headers: [],
  timestampMillis: 0,
  ...part
})

describe("partitioner", () => {
  it.each([
    ["21", -973932308],
    ["foobar", -790332482],
    ["a-little-bit-long-string", -985981536],
    ["a-little-bit-longer-string", -1486304829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
    ["abc", 479470107]
  ])("hashes %s as Kafka's clients do", (text, hash) => {
    // with that many partitions the partition is the hash itself, without its sign
    assert.strictEqual(TopicDealing.partitionFor(record({ key: bytes(text) }), 2 ** 31, () => 0), hash & 0x7fffffff)
  })

  it("sends a key to the partition that Kafka's clients choose", () => {
    const partition = TopicDealing.partitionFor(record({ key: bytes("foobar") }), 12, () => 0)
    assert.strictEqual(partition, (-790332482 & 0x7fffffff) % 12)
  })

  it("deals records without a key in turn", () => {
    let turn = 0
    const partitions = Array.from({ length: 6 }, () => TopicDealing.partitionFor(record({}), 3, () => turn++))
    assert.deepStrictEqual(partitions, [0, 1, 2, 0, 1, 2])
  })

  it("takes the record's own partition, whatever its key", () => {
    const chosen = (partition: number) =>
      TopicDealing.partitionFor(record({ key: bytes("foobar"), partition }), 3, () => 0)
    assert.strictEqual(chosen(2), 2)
  })

  it.prop("never chooses a partition that the topic does not have", {
    partition: Schema.UndefinedOr(Schema.Int),
    key: Schema.NullOr(Schema.String),
    partitions: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))
  }, ({ key, partition, partitions }) => {
    const chosen = TopicDealing.partitionFor(
      record({ key: key === null ? null : bytes(key), partition }),
      partitions,
      () => 7
    )
    assert.isTrue(Number.isInteger(chosen) && chosen >= 0 && chosen < partitions, `${chosen} of ${partitions}`)
  })
})

const topics: ReadonlyArray<TopicLog.Topic> = [
  { name: "orders", partitions: 3 },
  { name: "users", partitions: 1 },
  { name: "orders-dlq", partitions: 2 }
]
const dealt = (topics_: TopicLog.SubscribeOptions["topics"], member: number, members: number) =>
  TopicDealing.deal({ topics: topics_, member, members }, topics).map(({ partition, topic }) => `${topic}/${partition}`)

describe("dealing", () => {
  it("gives a single member everything, in the order of the list", () => {
    assert.deepStrictEqual(dealt({ list: ["users", "orders"] }, 0, 1), ["users/0", "orders/0", "orders/1", "orders/2"])
  })

  it.prop("gives every partition to exactly one member", {
    members: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
    byPattern: Schema.Boolean
  }, ({ byPattern, members }) => {
    const wanted = byPattern ? { pattern: /.*/ } : { list: topics.map((topic) => topic.name) }
    const all = Array.from({ length: members }, (_, member) => dealt(wanted, member, members)).flat()
    assert.deepStrictEqual([...all].sort(), dealt(wanted, 0, 1).sort())
  })

  it("starts each topic at another member, so that small topics do not all go to the first", () => {
    assert.deepStrictEqual(dealt({ pattern: /.*/ }, 0, 2), ["orders/0", "orders/2", "orders-dlq/0"])
    assert.deepStrictEqual(dealt({ pattern: /.*/ }, 1, 2), ["orders/1", "users/0", "orders-dlq/1"])
  })

  it("keeps everybody's partitions when a topic is added", () => {
    const more = [...topics, { name: "new", partitions: 4 }]
    const options = { topics: { pattern: /.*/ }, member: 1, members: 3 }
    const before = TopicDealing.deal(options, topics)
    assert.deepStrictEqual(TopicDealing.deal(options, more).slice(0, before.length), before)
  })

  it("leaves out topics that do not exist yet, and keeps the rank of those behind them", () => {
    assert.deepStrictEqual(dealt({ list: ["missing", "users"] }, 0, 2), [])
    assert.deepStrictEqual(dealt({ list: ["missing", "users"] }, 1, 2), ["users/0"])
  })

  it("matches a pattern against the whole name", () => {
    assert.deepStrictEqual(dealt({ pattern: /orders/ }, 0, 1), ["orders/0", "orders/1", "orders/2"])
  })

  it("tries every branch of a pattern against the whole name", () => {
    assert.deepStrictEqual(dealt({ pattern: /orders|orders-dlq/ }, 0, 1).slice(3), ["orders-dlq/0", "orders-dlq/1"])
  })

  it("is not confused by flags that make a pattern remember where it was", () => {
    const pattern = /users/giy
    assert.deepStrictEqual(dealt({ pattern }, 0, 1), ["users/0"])
    assert.deepStrictEqual(dealt({ pattern }, 0, 1), ["users/0"])
  })
})
