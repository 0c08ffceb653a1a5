/** Every transform of this package, as one list for `Plugins.layer`. */
import type * as Transform from "@kelpie/core/Transform"
import * as Cast from "./Cast.ts"
import * as ExtractField from "./ExtractField.ts"
import { Filter } from "./Filter.ts"
import * as Flatten from "./Flatten.ts"
import * as HoistField from "./HoistField.ts"
import * as InsertField from "./InsertField.ts"
import * as MaskField from "./MaskField.ts"
import { RegexRouter } from "./RegexRouter.ts"
import * as ReplaceField from "./ReplaceField.ts"
import * as TimestampConverter from "./TimestampConverter.ts"
import { ValueToKey } from "./ValueToKey.ts"

/** Transforms by Connect's names. */
export const all: ReadonlyArray<Transform.Transform> = [
  Cast.Key,
  Cast.Value,
  ExtractField.Key,
  ExtractField.Value,
  Filter,
  Flatten.Key,
  Flatten.Value,
  HoistField.Key,
  HoistField.Value,
  InsertField.Key,
  InsertField.Value,
  MaskField.Key,
  MaskField.Value,
  RegexRouter,
  ReplaceField.Key,
  ReplaceField.Value,
  TimestampConverter.Key,
  TimestampConverter.Value,
  ValueToKey
]
