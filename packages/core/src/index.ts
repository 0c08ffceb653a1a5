export * as Backoff from "./Backoff.ts"
export * as ClusterState from "./ClusterState.ts"
export * as ConfigInfos from "./ConfigInfos.ts"
export * as ConfigKey from "./ConfigKey.ts"
export * as ConfigRecord from "./ConfigRecord.ts"
export { ConfigStore } from "./ConfigStore.ts"
export {
  type ConnectorError,
  fromRejection,
  isConnectorError,
  PermanentError,
  ThrottledError,
  TransientError
} from "./ConnectorError.ts"
export * as ConnectorKeys from "./ConnectorKeys.ts"
export * as ConnectorName from "./ConnectorName.ts"
export type { ConnectRecord, Header, SinkRecord, SourceRecord } from "./ConnectRecord.ts"
export * as ConnectSchema from "./ConnectSchema.ts"
export * as Converter from "./Converter.ts"
export * as Converters from "./Converters.ts"
export * as Executor from "./Executor.ts"
export * as Floors from "./Floors.ts"
export type * as HerderEvent from "./HerderEvent.ts"
export * as Identity from "./Identity.ts"
export * as Item from "./Item.ts"
export { LeaderClient } from "./LeaderClient.ts"
export * as LeaderCommand from "./LeaderCommand.ts"
export * as Machine from "./Machine.ts"
export { Membership } from "./Membership.ts"
export * as MemoryGroup from "./MemoryGroup.ts"
export * as Middleware from "./Middleware.ts"
export * as Newest from "./Newest.ts"
export { OffsetStore } from "./OffsetStore.ts"
export type * as Operation from "./Operation.ts"
export type * as Plugin from "./Plugin.ts"
export { Plugins } from "./Plugins.ts"
export {
  CommandPolicy,
  ConverterDefaults,
  ExecutorLimits,
  FlowPolicy,
  MembershipPolicy,
  PlacementPolicy,
  ReconfigurationPolicy,
  RestartPolicy,
  SessionKeyPolicy,
  StopPolicy,
  VariableSettings
} from "./Policies.ts"
export * as RecordPredicate from "./RecordPredicate.ts"
export { SessionKeys } from "./SessionKeys.ts"
export * as SinkConnector from "./SinkConnector.ts"
export * as SourceConnector from "./SourceConnector.ts"
export * as Status from "./Status.ts"
export { StatusListener } from "./StatusListener.ts"
export { StatusStore } from "./StatusStore.ts"
export { StoreError } from "./StoreError.ts"
export * as Stores from "./Stores.ts"
export * as TaskSplit from "./TaskSplit.ts"
export * as TopicDealing from "./TopicDealing.ts"
export { TopicLog } from "./TopicLog.ts"
export * as TopicPattern from "./TopicPattern.ts"
export * as Transform from "./Transform.ts"
export * as Validation from "./Validation.ts"
export * as VariableProvider from "./VariableProvider.ts"
