/** Every predicate of this package, as one list for `Plugins.layer`. */
import type * as RecordPredicate from "@kelpie/core/RecordPredicate"
import { HasHeaderKey } from "./HasHeaderKey.ts"
import { RecordIsTombstone } from "./RecordIsTombstone.ts"
import { TopicNameMatches } from "./TopicNameMatches.ts"

/** Predicates by Connect's names. */
export const all: ReadonlyArray<RecordPredicate.RecordPredicate> = [HasHeaderKey, RecordIsTombstone, TopicNameMatches]
