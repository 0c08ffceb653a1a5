/** Connect's own converters, which every runtime knows. */
import * as BooleanConverter from "./BooleanConverter.ts"
import * as ByteArrayConverter from "./ByteArrayConverter.ts"
import type { Converter } from "./Converter.ts"
import * as JsonConverter from "./JsonConverter.ts"
import * as NumberConverters from "./NumberConverters.ts"
import * as SimpleHeaderConverter from "./SimpleHeaderConverter.ts"
import * as StringConverter from "./StringConverter.ts"

/** Every shipped converter. */
export const all: ReadonlyArray<Converter> = [
  ...[
    JsonConverter,
    StringConverter,
    ByteArrayConverter,
    BooleanConverter,
    NumberConverters.short,
    NumberConverters.integer,
    NumberConverters.long,
    NumberConverters.float,
    NumberConverters.double
  ].flatMap(({ converter, headerConverter }): ReadonlyArray<Converter> => [converter, headerConverter]),
  SimpleHeaderConverter.headerConverter
]
