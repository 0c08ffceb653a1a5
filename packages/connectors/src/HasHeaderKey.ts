/** Is true for records with a header of a name. As Connect's `HasHeaderKey`. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as RecordPredicate from "@kelpie/core/RecordPredicate"
import { version } from "./internal/version.ts"

/** Looks at the headers. */
export const HasHeaderKey = RecordPredicate.make("HasHeaderKey", {
  version,
  aliases: ["org.apache.kafka.connect.transforms.predicates.HasHeaderKey"],
  doc: "True for a record that has at least one header of this name.",
  config: {
    name: ConfigKey.String("name", {
      importance: "medium",
      doc: "The name of the header; upper and lower case differ.",
      check: (text: string) => text === "" ? "Must not be empty" : undefined
    })
  },
  test: ({ name }) => (record) => {
    if (record.headers === undefined) return false
    for (const header of record.headers) if (header[0] === name) return true
    return false
  }
})
