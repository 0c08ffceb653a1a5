/** Is true for records whose topic matches a regular expression. As Connect's `TopicNameMatches`. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as RecordPredicate from "@kelpie/core/RecordPredicate"
import * as Result from "effect/Result"
import * as JavaRegex from "./internal/javaRegex.ts"
import { perTopic } from "./internal/perTopic.ts"
import { badConfig, reasonOf } from "./internal/refusal.ts"
import { version } from "./internal/version.ts"

const name = "TopicNameMatches"

/** Looks at the topic. */
export const TopicNameMatches = RecordPredicate.make(name, {
  version,
  aliases: ["org.apache.kafka.connect.transforms.predicates.TopicNameMatches"],
  doc: "True for a record if a regular expression matches the whole name of its topic.",
  config: {
    pattern: ConfigKey.String("pattern", {
      importance: "medium",
      doc: "The regular expression, in Java's syntax.",
      check: (text: string) => text === "" ? "Must not be empty" : reasonOf(JavaRegex.compile(text))
    })
  },
  test: ({ pattern }) => {
    const regex = Result.getOrThrowWith(JavaRegex.compile(pattern), (reason) => badConfig(name, "pattern", reason))
    const matches = perTopic(regex.matches)
    return (record) => matches(record.topic)
  }
})
