/** The connectors, transforms, predicates and variable providers of this package, each by its name and all as one list. */
import { DirectoryVariables } from "./DirectoryVariables.ts"
import { EnvVariables } from "./EnvVariables.ts"
import { FileSink } from "./FileSink.ts"
import { FileSource } from "./FileSource.ts"
import { FileVariables } from "./FileVariables.ts"
import { GeneratorSource } from "./GeneratorSource.ts"
import * as Predicates from "./Predicates.ts"
import { SqliteSink } from "./SqliteSink.ts"
import { SqliteSource } from "./SqliteSource.ts"
import * as Transforms from "./Transforms.ts"

export * as Cast from "./Cast.ts"
export * as ExtractField from "./ExtractField.ts"
export { Filter } from "./Filter.ts"
export * as Flatten from "./Flatten.ts"
export { HasHeaderKey } from "./HasHeaderKey.ts"
export * as HoistField from "./HoistField.ts"
export * as InsertField from "./InsertField.ts"
export * as MaskField from "./MaskField.ts"
export { RecordIsTombstone } from "./RecordIsTombstone.ts"
export { RegexRouter } from "./RegexRouter.ts"
export * as ReplaceField from "./ReplaceField.ts"
export * as TimestampConverter from "./TimestampConverter.ts"
export { TopicNameMatches } from "./TopicNameMatches.ts"
export { ValueToKey } from "./ValueToKey.ts"
export {
  DirectoryVariables,
  EnvVariables,
  FileSink,
  FileSource,
  FileVariables,
  GeneratorSource,
  Predicates,
  SqliteSink,
  SqliteSource,
  Transforms
}

/** Everything of this package, as one list for `Plugins.layer`. It needs nothing from the host. */
export const all = [
  FileSource,
  FileSink,
  SqliteSource,
  SqliteSink,
  GeneratorSource,
  ...Transforms.all,
  ...Predicates.all,
  FileVariables,
  EnvVariables,
  DirectoryVariables
]
