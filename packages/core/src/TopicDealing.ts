/**
 * How topics are shared out, for those who write a `TopicLog`: which member of a group reads which partition, and which
 * partition a record goes to. Pure functions, so that every engine and every worker agrees.
 */
export { type Assigned, deal, key } from "./internal/dealing.ts"
export { partitionFor } from "./internal/partitioner.ts"
