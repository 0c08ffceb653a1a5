/** Reads and writes schemas as they stand in Connect's JSON envelope. */
import type { ConnectSchema, Field, Type } from "../ConnectSchema.ts"
import { reader } from "./jsonRead.ts"
import { type Options, writer } from "./jsonWrite.ts"
import { typeName } from "./typeName.ts"

const quote = (text: string): string => JSON.stringify(text)

const parts = (schema: ConnectSchema, options: Options): ReadonlyArray<string> => {
  switch (schema.type) {
    case "array":
      return [`"items":${part(schema.items, options)}`]
    case "map":
      return [`"keys":${part(schema.keys, options)}`, `"values":${part(schema.values, options)}`]
    case "struct":
      return [`"fields":[${(schema.fields ?? []).map((field) => printField(field, options)).join(",")}]`]
    default:
      return []
  }
}

const part = (schema: ConnectSchema | undefined, options: Options): string =>
  schema === undefined ? "null" : print(schema, options)

const printField = (field: Field, options: Options): string =>
  `{${members(field, options)},"field":${quote(field.field)}}`

const members = (schema: ConnectSchema, options: Options): string => {
  const texts = [`"type":${quote(schema.type)}`, ...parts(schema, options), `"optional":${schema.optional === true}`]
  if (schema.name !== undefined) texts.push(`"name":${quote(schema.name)}`)
  if (schema.version !== undefined) texts.push(`"version":${schema.version}`)
  if (schema.doc !== undefined) texts.push(`"doc":${quote(schema.doc)}`)
  if (schema.parameters !== undefined) texts.push(`"parameters":${JSON.stringify(schema.parameters)}`)
  if (schema.default !== undefined && schema.default !== null) {
    texts.push(`"default":${writer(schema, "", options)(schema.default)}`)
  }
  return texts.join(",")
}

/** The JSON of a schema, its members in Connect's order. */
export const print = (schema: ConnectSchema, options: Options): string => `{${members(schema, options)}}`

type Json = Readonly<Record<string, unknown>>

const types: ReadonlySet<unknown> = new Set<Type>([
  "int8",
  "int16",
  "int32",
  "int64",
  "float",
  "double",
  "boolean",
  "string",
  "bytes",
  "array",
  "map",
  "struct"
])

const isType = (type: unknown): type is Type => types.has(type)

const isObject = (json: unknown): json is Json => typeof json === "object" && json !== null && !Array.isArray(json)

const field = (json: unknown): Field => {
  if (!isObject(json) || typeof json["field"] !== "string") {
    throw new Error("Expected every field of a struct schema to have a name in \"field\"")
  }
  return { ...parse(json), field: json["field"] }
}

const fields = (json: unknown): ReadonlyArray<Field> => {
  if (Array.isArray(json)) return json.map(field)
  throw new Error(`Expected "fields" of a struct schema to be an array but got ${typeName(json)}`)
}

const required = (json: Json, name: string): ConnectSchema => {
  if (json[name] !== undefined && json[name] !== null) return parse(json[name])
  throw new Error(`Expected the ${String(json["type"])} schema to say its "${name}"`)
}

const parameters = (json: Json): Readonly<Record<string, string>> => {
  const texts: Array<readonly [string, string]> = []
  for (const [name, value] of Object.entries(json)) {
    if (typeof value !== "string") {
      throw new Error(`Expected schema parameters to be strings but got ${typeName(value)}`)
    }
    texts.push([name, value])
  }
  return Object.fromEntries(texts)
}

const composed = (type: Type, json: Json): Pick<ConnectSchema, "fields" | "items" | "keys" | "values"> => {
  switch (type) {
    case "array":
      return { items: required(json, "items") }
    case "map":
      return { keys: required(json, "keys"), values: required(json, "values") }
    case "struct":
      return { fields: fields(json["fields"]) }
    default:
      return {}
  }
}

/** Reads a schema from parsed JSON; its default becomes a value as records hold it. Throws when it is none. */
export const parse = (json: unknown): ConnectSchema => {
  if (!isObject(json)) throw new Error(`Expected a schema (an object) but got ${typeName(json)}`)
  const { default: fallback, doc, name, optional, type, version } = json
  if (!isType(type)) {
    throw new Error(
      `Expected a schema with one of the types ${Array.from(types).join(", ")} but got ${
        typeof type === "string" ? "another" : typeName(type)
      }`
    )
  }
  const schema: ConnectSchema = {
    type,
    ...composed(type, json),
    ...(optional === true && { optional }),
    ...(typeof name === "string" && { name }),
    ...(typeof version === "number" && { version }),
    ...(typeof doc === "string" && { doc }),
    ...(isObject(json["parameters"]) && { parameters: parameters(json["parameters"]) })
  }
  return fallback === undefined || fallback === null
    ? schema
    : { ...schema, default: reader(schema, "", true)(fallback) }
}
