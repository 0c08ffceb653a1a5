/** Deals the partitions of topics over the members of a group: a pure function, the same on every worker. */
import type { TopicLog } from "../TopicLog.ts"

/** One partition of a topic. */
export interface Assigned {
  readonly topic: string
  readonly partition: number
}

/** A text that names one partition; a topic's name holds no line break. */
export const key = (topic: string, partition: number): string => `${partition}\n${topic}`

/**
 * The partitions of one member. A topic's rank is its place in the list, or in the order of creation for a pattern, so
 * that a new topic changes nobody else's partitions.
 */
export const deal = (
  options: Pick<TopicLog.SubscribeOptions, "topics" | "member" | "members">,
  all: ReadonlyArray<TopicLog.Topic>
): ReadonlyArray<Assigned> => {
  const ranked = ranks(options.topics, all)
  const assigned: Array<Assigned> = []
  for (const { rank, topic } of ranked) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      if ((rank + partition) % options.members === options.member) assigned.push({ topic: topic.name, partition })
    }
  }
  return assigned
}

interface Ranked {
  readonly rank: number
  readonly topic: TopicLog.Topic
}

const ranks = (
  topics: TopicLog.SubscribeOptions["topics"],
  all: ReadonlyArray<TopicLog.Topic>
): ReadonlyArray<Ranked> => {
  if ("list" in topics) {
    const byName = new Map(all.map((topic) => [topic.name, topic]))
    return topics.list.flatMap((name, rank) => {
      const topic = byName.get(name)
      return topic === undefined ? [] : [{ rank, topic }]
    })
  }
  const pattern = wholeName(topics.pattern)
  return all.flatMap((topic, rank) => pattern.test(topic.name) ? [{ rank, topic }] : [])
}

/** The pattern for the whole name, as in Connect: the first branch that fits a part must not hide one that fits all. */
const wholeName = ({ flags, source }: RegExp): RegExp => new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ""))
