/** Which members may own the items of a connector: those that have its plugin and carry the labels that it asks for. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type { Membership } from "@kelpie/core/Membership"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import * as Result from "effect/Result"

type Members = ReadonlyArray<Membership.Member>

const textOf = (config: ConnectorConfig, key: { readonly name: string }) => ConfigKey.textOf(config, key.name) ?? ""
const pluginOf = (config: ConnectorConfig) => textOf(config, ConnectorKeys.common.class).trim()

const hasPlugin = (plugin: string) => ({ plugins }: Membership.Worker) =>
  plugins === undefined || plugins.includes(plugin)

const carries = (asked: ConnectorKeys.Labels) => {
  const entries = Object.entries(asked)
  return ({ labels = {} }: Membership.Worker) =>
    entries.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
}

/** The places of the members that may own a connector's items. Those that drain only when nobody else can. */
const places = (members: Members, config: ConnectorConfig): ReadonlyArray<number> => {
  const labels = ConnectorKeys.placementLabels(config)
  // what cannot be read asks for something that nobody can be known to have
  if (Result.isFailure(labels)) return []
  const [has, carriesAll] = [hasPlugin(pluginOf(config)), carries(labels.success)]
  const able = members.flatMap((member, place) => has(member) && carriesAll(member) ? [place] : [])
  const staying = able.filter((place) => members[place]?.draining !== true)
  return staying.length > 0 ? staying : able
}

/** Says which of the members may own a connector's items, by their places, oldest first; looks once for equal needs. */
export const among = (members: Members): (config: ConnectorConfig) => ReadonlyArray<number> => {
  const byConfig = new Map<ConnectorConfig, ReadonlyArray<number>>()
  const byNeeds = new Map<string, ReadonlyArray<number>>()
  const look = (config: ConnectorConfig) => {
    const plugin = textOf(config, ConnectorKeys.common.class)
    const needs = `${plugin.length} ${plugin}${textOf(config, ConnectorKeys.common.placementLabels)}`
    const found = byNeeds.get(needs) ?? places(members, config)
    byNeeds.set(needs, found)
    return found
  }
  return (config) => {
    const found = byConfig.get(config) ?? look(config)
    byConfig.set(config, found)
    return found
  }
}

const alike = (a: Membership.Worker, b: Membership.Worker): boolean => {
  const [plugins, others] = [a.plugins && new Set(a.plugins), b.plugins && new Set(b.plugins)]
  const samePlugins = plugins === undefined || others === undefined
    ? plugins === others
    : plugins.size === others.size && [...plugins].every((plugin) => others.has(plugin))
  return samePlugins && carries(a.labels ?? {})(b) && carries(b.labels ?? {})(a)
}

/** Whether all that stay can do the same: then every item that one of them may own, all may. */
export const uniform = (members: Members): boolean => {
  const [first, ...others] = members.filter((member) => member.draining !== true)
  return first === undefined || others.every((other) => alike(first, other))
}

/** Why no member may own the items of a connector; `undefined` when one may. */
export const whyNone = (members: Members, config: ConnectorConfig): string | undefined => {
  if (members.length === 0) return "there is no worker"
  const labels = ConnectorKeys.placementLabels(config)
  if (Result.isFailure(labels)) return labels.failure
  const plugin = pluginOf(config)
  const asked = Object.entries(labels.success).map(([name, value]) => `${name}=${value}`).join(",")
  const [having, carrying] = [members.filter(hasPlugin(plugin)), members.filter(carries(labels.success))]
  if (having.length === 0) return `no worker has the plugin ${plugin}`
  if (carrying.length === 0) return `no worker has the labels ${asked}`
  return having.some((member) => carrying.includes(member))
    ? undefined
    : `no worker has both the plugin ${plugin} and the labels ${asked}`
}
