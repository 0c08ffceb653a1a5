/** Offsets in Connect's shape, read from and turned into what the stores keep. Checks name the first entry that is wrong. */
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type * as SourceConnector from "@kelpie/core/SourceConnector"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Herder } from "../Herder.ts"
import { HerderError, InvalidOffsets } from "../HerderError.ts"
import { canonical } from "./digest.ts"
import { jsonCodecs } from "./sourceTask.ts"

type Entry = Herder.OffsetEntry
type Json = Entry["partition"]

const invalid = (message: string) => new HerderError({ reason: new InvalidOffsets({ message }) })

// --- sinks

/** Positions of a group. */
export const fromPositions = (positions: ReadonlyArray<TopicLog.Position>): ReadonlyArray<Entry> =>
  positions
    .toSorted((a, b) => a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition)
    .map(({ offset, partition, topic }) => ({
      partition: { kafka_partition: partition, kafka_topic: topic },
      offset: { kafka_offset: offset }
    }))

/** The positions that an operator wants; of topics that exist, but for what is forgotten. */
export const toPositions = (
  entries: ReadonlyArray<Entry>,
  topics: ReadonlyArray<TopicLog.Topic>
): Effect.Effect<TopicLog.Alteration["positions"], HerderError> => {
  const partitions = new Map(topics.map(({ name, partitions }) => [name, partitions]))
  return Effect.forEach(entries, (entry) => Effect.fromResult(toPosition(entry, partitions)))
}

const toPosition = (
  { offset: given, partition: of }: Entry,
  partitions: ReadonlyMap<string, number>
): Result.Result<TopicLog.Alteration["positions"][number], HerderError> => {
  if (of === null) return refuse("The partition for a sink connector offset cannot be null or missing")
  const topic = member(of, "kafka_topic")
  const number = member(of, "kafka_partition")
  if (typeof topic !== "string" || number === undefined) {
    return refuse("The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'")
  }
  const partition = integer(number)
  if (partition === undefined) return refuse(unparsed("partition", number))
  if (given === null) return Result.succeed({ topic, partition, offset: null })
  const value = member(given, "kafka_offset")
  if (value === undefined) {
    return refuse("The offset for a sink connector should either be null or contain the key 'kafka_offset'")
  }
  const offset = integer(value)
  if (offset === undefined) return refuse(unparsed("offset", value))
  const place = `partition ${partition} of topic ${topic}`
  if (offset < 0) return refuse(`The offset ${offset} for ${place} is negative`)
  const count = partitions.get(topic)
  if (count === undefined) return refuse(`There is no ${place}: the topic does not exist`)
  if (partition < 0 || partition >= count) {
    return refuse(`There is no ${place}: its partitions are 0 to ${count - 1}`)
  }
  return Result.succeed({ topic, partition, offset })
}

const refuse = (message: string) => Result.fail(invalid(message))

const unparsed = (what: "partition" | "offset", value: Json) =>
  `Failed to parse the following Kafka ${what} value in the provided offsets: '${text(value)}'. ` +
  `${what === "partition" ? "Partition" : "Offset"} values for sink connectors need to be integers.`

const text = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 100)

/** A member that is there and not null. */
const member = (value: Json, key: string): Json | undefined =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key) ?? undefined
    : undefined

/** A number, or its text. */
const integer = (value: Json): number | undefined => {
  if (typeof value !== "number" && (typeof value !== "string" || !/^[+-]?\d+$/.test(value))) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : undefined
}

// --- sources

/** Whether a definition says what its offsets look like; for others nothing can be stored but what is removed. */
export const declaresOffsets = (runtime: SourceConnector.Runtime): boolean => runtime.offset !== Schema.Undefined

/** What is stored for a source. */
export const fromStored = (entries: ReadonlyArray<OffsetStore.Entry>): ReadonlyArray<Entry> =>
  entries
    .toSorted((a, b) => a.partition < b.partition ? -1 : 1)
    .map(({ offset, partition }) => ({ partition: parse(partition), offset: offset === null ? null : parse(offset) }))

/** Stores keep JSON; what is none is shown as it is. */
const parse = (stored: string): Json => Result.getOrElse(Result.try((): Json => JSON.parse(stored)), () => stored)

/**
 * The offsets that an operator wants, as a task of the connector would store them. What is stored already can be removed
 * whatever it looks like: it may be of an older version, or of another connector of that name.
 */
export const toStored = (
  runtime: SourceConnector.Runtime,
  entries: ReadonlyArray<Entry>,
  known: ReadonlySet<string>
): Effect.Effect<ReadonlyArray<OffsetStore.Entry>, HerderError> =>
  Effect.forEach(entries, ({ offset, partition }, index) => {
    const given = canonical(partition)
    if (offset === null && known.has(given)) return Effect.succeed({ partition: given, offset: null })
    const codecs = jsonCodecs(runtime)
    const where = (member: string) => `offsets[${index}].${member} does not fit the connector`
    if (partition === null) return Effect.fail(invalid(`${where("partition")}: Partition objects cannot be null`))
    return Effect.gen(function*() {
      const partitionJson = yield* asStored(codecs.partition, codecs.encodePartition, partition, where("partition"))
      const key = canonical(partitionJson ?? {})
      if (offset === null) return { partition: key, offset: null }
      const offsetJson = yield* asStored(codecs.offset, codecs.encodeOffset, offset, where("offset"))
      return { partition: key, offset: JSON.stringify(offsetJson) }
    })
  })

/** Reads a value as the connector would, and writes it as a task would. */
const asStored = (
  codec: Schema.Codec<unknown, unknown>,
  encode: (value: unknown) => Effect.Effect<unknown, { readonly message: string }>,
  given: Json,
  where: string
): Effect.Effect<unknown, HerderError> => {
  const decode = Schema.decodeUnknownEffect(codec, { errors: "all", onExcessProperty: "error" })
  // a source without partitions has one, which is written as an object without members
  const decoded = canonical(given) === "{}" ? Effect.catch(decode(given), () => decode(null)) : decode(given)
  return Effect.mapError(
    Effect.flatMap(decoded, encode),
    ({ message }) => invalid(`${where}: ${message.replace(/\s*\n\s*/g, " ")}`)
  )
}
