/**
 * Changes the record's topic by a regular expression. As Connect's `RegexRouter`.
 *
 * If the expression matches the whole name, the first part that it finds is replaced: mostly all of the name. The expression
 * and the replacement have Java's syntax; what has no faithful translation is refused, see `internal/javaRegex.ts`.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as Transform from "@kelpie/core/Transform"
import * as Result from "effect/Result"
import * as JavaRegex from "./internal/javaRegex.ts"
import * as JavaReplacement from "./internal/javaReplacement.ts"
import { perTopic } from "./internal/perTopic.ts"
import { badConfig, reasonOf, refusal } from "./internal/refusal.ts"
import { version } from "./internal/version.ts"

const name = "RegexRouter"

/** Changes topics. */
export const RegexRouter = Transform.make(name, {
  version,
  aliases: ["org.apache.kafka.connect.transforms.RegexRouter"],
  doc: "Renames the topic of a record if a regular expression matches its whole name.",
  config: {
    regex: ConfigKey.String("regex", {
      importance: "high",
      doc: "The regular expression that must match the whole name, in Java's syntax.",
      check: (text: string) => reasonOf(JavaRegex.compile(text))
    }),
    replacement: ConfigKey.String("replacement", {
      importance: "high",
      doc: "The new name. $1 stands for the first group, ${name} for one with a name; \\$ for the sign itself."
    })
  },
  apply: (config) => {
    const regex = Result.getOrThrowWith(JavaRegex.compile(config.regex), (reason) => badConfig(name, "regex", reason))
    const replacement = Result.getOrThrowWith(
      JavaReplacement.parse(config.replacement, regex),
      (reason) => badConfig(name, "replacement", reason)
    )
    const topicOf = perTopic((topic) =>
      regex.matches(topic) ? JavaReplacement.replaceFirst(topic, regex, replacement) : topic
    )
    return (record) => {
      const topic = topicOf(record.topic)
      if (topic === "") throw refusal(name, undefined, `the new name of the topic "${record.topic}" is empty`)
      return topic === record.topic ? record : { ...record, topic }
    }
  }
})
