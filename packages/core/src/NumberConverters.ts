/** Numbers as big-endian bytes, as Connect's Short, Integer, Long, Float and DoubleConverter write them. */
import type { ConnectSchema, Type } from "./ConnectSchema.ts"
import { type ConverterPair, converterPair } from "./internal/converterPair.ts"
import { isInt64, isWithin } from "./internal/integerRange.ts"
import { refuse, refuseType } from "./internal/typeName.ts"

interface Format {
  readonly type: Type
  readonly size: number
  readonly write: (view: DataView, value: number) => void
  readonly read: (view: DataView) => number | bigint
  /** Whether the bytes hold this number. */
  readonly fits: (value: number) => boolean
  readonly writeBig?: ((view: DataView, value: bigint) => void) | undefined
}

// One place to put bytes together: nothing that uses it is interrupted.
const scratch = new Uint8Array(8)
const scratchView = new DataView(scratch.buffer)

const pair = (name: string, format: Format): ConverterPair<{}> => {
  const { fits, read, size, type, write, writeBig } = format
  const schema: ConnectSchema = { type, optional: true }
  return converterPair(`org.apache.kafka.connect.converters.${name}Converter`, {
    doc: `A number of type ${type} as ${size} bytes, high byte first.`,
    config: {},
    open: () => ({
      toBytes: (_, value) => {
        if (value === null || value === undefined) return null
        if (typeof value === "bigint" && writeBig !== undefined) writeBig(scratchView, value)
        else if (typeof value !== "number") return refuseType("", type, value)
        else if (fits(value)) write(scratchView, value)
        else return refuse("", type, "a number outside of it")
        return scratch.slice(0, size)
      },
      fromBytes: (_, bytes) => {
        if (bytes === null) return { value: null, schema }
        if (bytes.length !== size) return refuse("", `${size} bytes`, String(bytes.length))
        scratch.set(bytes)
        return { value: read(scratchView), schema }
      }
    })
  })
}

/** ShortConverter: `int16`, 2 bytes. */
export const short = pair("Short", {
  type: "int16",
  size: 2,
  fits: (value) => isWithin("int16", value),
  write: (view, value) => view.setInt16(0, value),
  read: (view) => view.getInt16(0)
})

/** IntegerConverter: `int32`, 4 bytes. */
export const integer = pair("Integer", {
  type: "int32",
  size: 4,
  fits: (value) => isWithin("int32", value),
  write: (view, value) => view.setInt32(0, value),
  read: (view) => view.getInt32(0)
})

const highWord = 2 ** 32

/** LongConverter: `int64`, 8 bytes; beyond 2 ** 53 a `bigint`. */
export const long = pair("Long", {
  type: "int64",
  size: 8,
  fits: Number.isSafeInteger,
  write: (view, value) => {
    view.setInt32(0, Math.floor(value / highWord))
    view.setUint32(4, value)
  },
  writeBig: (view, value) => {
    if (!isInt64(value)) refuse("", "int64", "a bigint outside of it")
    view.setBigInt64(0, value)
  },
  read: (view) => {
    // Exact within the safe range; beyond it the sum is not safe either.
    const value = view.getInt32(0) * highWord + view.getUint32(4)
    return Number.isSafeInteger(value) ? value : view.getBigInt64(0)
  }
})

/** FloatConverter: `float`, 4 bytes. */
export const float = pair("Float", {
  type: "float",
  size: 4,
  fits: () => true,
  write: (view, value) => view.setFloat32(0, value),
  read: (view) => view.getFloat32(0)
})

/** DoubleConverter: `double`, 8 bytes. */
export const double = pair("Double", {
  type: "double",
  size: 8,
  fits: () => true,
  write: (view, value) => view.setFloat64(0, value),
  read: (view) => view.getFloat64(0)
})
