/** Is true for tombstones: records whose value is null. As Connect's `RecordIsTombstone`. */
import * as RecordPredicate from "@kelpie/core/RecordPredicate"
import { version } from "./internal/version.ts"

/** Looks at the value. */
export const RecordIsTombstone = RecordPredicate.make("RecordIsTombstone", {
  version,
  aliases: ["org.apache.kafka.connect.transforms.predicates.RecordIsTombstone"],
  doc: "True for a record without a value.",
  config: {},
  test: () => (record) => record.value === null || record.value === undefined
})
