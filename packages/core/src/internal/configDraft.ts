/** Collects the keys that a configuration may have, and what is wrong with them, into Connect's answer. */
import type { ConfigInfo, ConfigInfos, Definition } from "../ConfigInfos.ts"
import * as ConfigKey from "../ConfigKey.ts"
import type { ConnectorConfig } from "../Plugin.ts"
import { weakMemo } from "./weakMemo.ts"

const hidden = "[hidden]"

/** A text that is one variable and nothing else: it may be shown, even for a secret. */
const isVariable = (text: string): boolean => /^\$\{[^}:]+:[^}]*\}$/.test(text)

const defaultText = (key: ConfigKey.ConfigKey<unknown>): string | null => {
  const value = key.options.default
  return value === undefined || value === null ? null : key.kind === "PASSWORD" ? hidden : key.encode(value)
}

const importance = { high: "HIGH", medium: "MEDIUM", low: "LOW" } as const
const width = { short: "SHORT", medium: "MEDIUM", long: "LONG", none: "NONE" } as const

/** What a key is, in Connect's words; `order` is its place in its group unless the key says one. */
export const definitionOf = (key: ConfigKey.ConfigKey<any>, order = -1): Definition => ({
  name: key.name,
  type: key.kind,
  required: key.required,
  default_value: defaultText(key),
  importance: importance[key.options.importance ?? (key.required ? "high" : "medium")],
  documentation: key.options.doc ?? "",
  group: key.options.group ?? null,
  order_in_group: key.options.order ?? (key.options.group === undefined ? -1 : order),
  width: width[key.options.width ?? "none"],
  display_name: key.options.displayName ?? key.name,
  dependents: key.options.dependents ?? []
})

/** What the keys of a record are; within a group they stand in the order of the record. */
export const definitionsOf = weakMemo((fields: ConfigKey.Fields): ReadonlyArray<Definition> => {
  const places = new Map<string | undefined, number>()
  return Object.values(fields).map((key) => {
    const order = (places.get(key.options.group) ?? 0) + 1
    places.set(key.options.group, order)
    return definitionOf(key, order)
  })
})

const recommendedOf = weakMemo((key: ConfigKey.ConfigKey<any>): ReadonlyArray<string> =>
  (key.options.recommended ?? []).map((value: unknown) => key.encode(value))
)

/** What is known of a key only where it is used. */
export interface Details {
  readonly default?: string | undefined
  readonly recommended?: ReadonlyArray<string> | undefined
  readonly visible?: boolean | undefined
}

const noDetails: Details = {}

interface Entry {
  readonly key: ConfigKey.ConfigKey<any>
  readonly definition: Definition
  readonly details: Details
}

/** The entries of a record of keys, without details; made once. */
const entriesOf = weakMemo((fields: ConfigKey.Fields): ReadonlyArray<Entry> => {
  const definitions = definitionsOf(fields)
  return Object.values(fields).map((key, index) => ({
    key,
    definition: definitions[index] ?? definitionOf(key),
    details: noDetails
  }))
})

/** An answer that is being made. */
export interface Draft {
  readonly shown: ConfigKey.Shown
  /** Adds keys at the end; a key that is there already keeps its place and gets the new meaning. */
  readonly define: (fields: ConfigKey.Fields, details?: ReadonlyMap<string, Details>) => void
  /** Keys that begin so are somebody's, although they have no definition. */
  readonly claim: (prefix: string) => void
  readonly has: (key: string) => boolean
  readonly isClaimed: (key: string) => boolean
  readonly names: () => ReadonlyArray<string>
  readonly problems: (problems: ReadonlyArray<ConfigKey.KeyProblem>) => void
  /** The text of a key that may be shown. */
  readonly text: (key: string) => string
  /** Refuses the value of a defined key. */
  readonly refuse: (key: string, reason: string) => void
  readonly found: () => ReadonlyArray<ConfigKey.KeyProblem>
  readonly infos: (name: string) => ConfigInfos
}

const noErrors: ReadonlyArray<string> = []

const valueOf = (
  { definition, details, key }: Entry,
  raw: ConnectorConfig,
  errors: ReadonlyArray<string>
): ConfigInfo["value"] => {
  const text = ConfigKey.textOf(raw, key.name)
  return {
    name: key.name,
    value: text === undefined ? definition.default_value : key.kind === "PASSWORD" && !isVariable(text) ? hidden : text,
    recommended_values: details.recommended ?? recommendedOf(key),
    errors,
    visible: details.visible ?? true
  }
}

/** An empty answer about a configuration as it was written. */
export const makeDraft = (raw: ConnectorConfig, shown: ConfigKey.Shown): Draft => {
  const entries = new Map<string, Entry>()
  /** By key, of those that have any. */
  const found = new Map<string, Array<string>>()
  const claimed: Array<string> = []
  const text = (key: string) => ConfigKey.textOf(raw, key) ?? ""
  const add = (key: string, error: string) => {
    if (!entries.has(key)) return
    const errors = found.get(key)
    if (errors === undefined) found.set(key, [error])
    // a key that the framework and a connector both read may be refused by both in the same words
    else if (!errors.includes(error)) errors.push(error)
  }
  return {
    shown,
    text,
    define: (fields, details) => {
      for (const entry of entriesOf(fields)) {
        const { definition, key } = entry
        const known = details?.get(key.name)
        entries.set(
          key.name,
          known === undefined ? entry : {
            key,
            definition: known.default === undefined ? definition : { ...definition, default_value: known.default },
            details: known
          }
        )
      }
    },
    claim: (prefix) => void claimed.push(prefix),
    has: (key) => entries.has(key),
    isClaimed: (key) => claimed.some((prefix) => key.startsWith(prefix)),
    names: () => Array.from(entries.keys()),
    problems: (problems) => {
      for (const { errors, key } of problems) for (const error of errors) add(key, error)
    },
    refuse: (name, reason) => {
      const key = entries.get(name)?.key
      if (key !== undefined) add(name, ConfigKey.invalid(key, text(name), reason))
    },
    // in the order of the keys, not of the errors
    found: () =>
      found.size === 0
        ? []
        : Array.from(entries.keys()).flatMap((key) => {
          const errors = found.get(key)
          return errors === undefined ? [] : [{ key, errors }]
        }),
    infos: (name) =>
      assemble(
        name,
        Array.from(
          entries.values(),
          (entry) => ({
            definition: entry.definition,
            value: valueOf(entry, raw, found.get(entry.key.name) ?? noErrors)
          })
        )
      )
  }
}

/** The whole answer: groups in the order of their first key, errors counted. */
export const assemble = (name: string, configs: ReadonlyArray<ConfigInfo>): ConfigInfos => {
  const groups = new Set<string>()
  let errors = 0
  for (const { definition, value } of configs) {
    if (definition.group !== null) groups.add(definition.group)
    errors += value.errors.length
  }
  return { name, error_count: errors, groups: [...groups], configs }
}
