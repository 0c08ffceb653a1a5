/** The reference: every plugin, every key, every setting, with its type, default and meaning. */
import { type ConfigKey, ConnectorKeys, Converters, type Plugin } from "@kelpie/core"
import { Connectors } from "./connectors.ts"
import { code, page, plain, table } from "./markdown.ts"
import { policies } from "./policies.ts"

type Key = ConfigKey.ConfigKey<any>
type Fields = ConfigKey.Fields

const defaultOf = (key: Key): string => {
  if (key.required) return "required"
  if (key.options.default === undefined) return "none"
  const text = key.encode(key.options.default)
  return text === "" ? "empty" : code(text)
}

const boundsOf = ({ options }: Key): string => {
  const { max, min } = options as ConfigKey.Bounds
  if (min === undefined && max === undefined) return ""
  return max === undefined ? ` At least ${min}.` : min === undefined ? ` At most ${max}.` : ` From ${min} to ${max}.`
}

const wordsOf = ({ encode, options: { recommended } }: Key): string =>
  recommended === undefined ? "" : ` One of ${recommended.map((value) => code(encode(value))).join(", ")}.`

const sentence = (text: string): string => text === "" || /[.!?]$/.test(text) ? text : `${text}.`

const keyTable = (fields: Fields): string => {
  const keys = Object.values(fields)
  if (keys.length === 0) return "It has no keys of its own."
  return table(
    ["key", "type", "default", "meaning"],
    keys.map((key) => [
      code(key.name),
      key.kind,
      defaultOf(key),
      `${plain(sentence(key.options.doc ?? ""))}${wordsOf(key)}${boundsOf(key)}`.trim()
    ])
  )
}

const aboutPlugin = (plugin: Plugin.Any): string => {
  const aliases = plugin.aliases.length === 0 ? "" : `Also answers to ${plugin.aliases.map(code).join(", ")}.`
  return [`## ${plain(plugin.name)}`, plain(sentence(plugin.doc ?? "")), aliases, keyTable(plugin.fields)]
    .filter((part) => part !== "")
    .join("\n\n")
}

const pluginPage = (title: string, intro: string, plugins: ReadonlyArray<Plugin.Any>): string =>
  page(`# ${title}`, intro, ...plugins.map(aboutPlugin))

const common = "The keys that every connector has are in [framework-keys.md](framework-keys.md)."

/** How a key is written in configurations of plugins that stand under a prefix. */
const prefixed = (what: string, prefix: string) =>
  `A key stands behind ${code(`${prefix}.`)} in a connector's configuration; ${what}.`

const frameworkKeys = page(
  "# Framework keys",
  "What the framework itself reads from a connector's configuration. Names, types and defaults are Kafka Connect's; " +
    `keys that begin with ${code("reconfiguration.")}, ${code("restart.")} or ${code("placement.")} are Kelpie's own.`,
  "## Every connector",
  keyTable(ConnectorKeys.common),
  "## Sources",
  keyTable(ConnectorKeys.source),
  "## Sinks",
  keyTable(ConnectorKeys.sink),
  "## Each transform",
  `For every alias in ${
    code("transforms")
  }; the transform's own keys stand beside these. See [transforms.md](transforms.md).`,
  keyTable(ConnectorKeys.transform("<alias>")),
  "## Each predicate",
  `For every alias in ${code("predicates")}. See [predicates.md](predicates.md).`,
  keyTable(ConnectorKeys.predicate("<alias>")),
  "## Each topic creation group",
  `For every group in ${code("topic.creation.groups")}, and for the group ${
    code("default")
  } as soon as any such key is ` +
    "there: that group has to say both numbers.",
  keyTable(ConnectorKeys.topicCreation("<group>"))
)

/** Path -> text. */
export const reference = (): ReadonlyMap<string, string> => {
  const { predicates, sinks, sources, transforms, variables } = Connectors
  return new Map([
    ["docs/reference/framework-keys.md", frameworkKeys],
    ["docs/reference/policies.md", policies()],
    [
      "docs/reference/connectors.md",
      pluginPage("Connectors", `Sources and sinks of \`@kelpie/connectors\`. ${common}`, [...sources, ...sinks])
    ],
    [
      "docs/reference/transforms.md",
      pluginPage(
        "Transforms",
        `Transforms of \`@kelpie/connectors\`. ${
          prefixed("the alias is one of the list `transforms`", "transforms.<alias>")
        }`,
        transforms
      )
    ],
    [
      "docs/reference/predicates.md",
      pluginPage(
        "Predicates",
        `Predicates of \`@kelpie/connectors\`. ${
          prefixed("the alias is one of the list `predicates`", "predicates.<alias>")
        }`,
        predicates
      )
    ],
    [
      "docs/reference/converters.md",
      pluginPage(
        "Converters",
        "Every runtime knows these. " +
          prefixed("the same holds for `value.converter` and `header.converter`", "key.converter"),
        uniqueByName(Converters.all)
      )
    ],
    [
      "docs/reference/variables.md",
      pluginPage(
        "Variable providers",
        "A value of a configuration may hold `${provider:path:key}`, or `${provider:key}`. It is resolved on the way into " +
          "the connector; what it stands for is not stored. The keys below are settings of the worker: the reference " +
          "`VariableSettings`, by the provider's name.",
        variables
      )
    ]
  ])
}

/** A converter serves for keys and values, and once more for headers: it is described once. */
const uniqueByName = (plugins: ReadonlyArray<Plugin.Any>): ReadonlyArray<Plugin.Any> => [
  ...new Map(plugins.map((plugin) => [plugin.name, plugin])).values()
]
