/** What the herder does off the tick, as data: the closed union that operation middleware sees. */
import type { LeaderCommand } from "./LeaderCommand.ts"

interface Base {
  readonly connector: string
}
/** Operation -> its fields and its result, in one table. */
export interface Operations {
  /** A definition's own `validate`; the result is the number of problems. */
  readonly ValidateConfig: { readonly fields: { readonly plugin: string }; readonly result: number }
  readonly StartConnector: { readonly fields: { readonly revision: number }; readonly result: void }
  readonly StopConnector: { readonly fields: {}; readonly result: void }
  /** The result is the number of task configs. */
  readonly GenerateTaskConfigs: {
    readonly fields: { readonly revision: number; readonly attempt: number; readonly maxTasks: number }
    readonly result: number
  }
  readonly SendToLeader: { readonly fields: { readonly command: LeaderCommand }; readonly result: void }
  /** The leader appends to the config log; `connector` is empty: a commit is a group of commands. */
  readonly CommitRecords: { readonly fields: { readonly records: number }; readonly result: void }
  readonly StartTask: { readonly fields: { readonly task: number }; readonly result: void }
  readonly StopTask: { readonly fields: { readonly task: number }; readonly result: void }
  /** One pull of a source; the result is the number of records. */
  readonly PollSource: { readonly fields: { readonly task: number }; readonly result: number }
  readonly PutSink: { readonly fields: { readonly task: number; readonly records: number }; readonly result: void }
}
/** The name of an operation. */
export type Tag = keyof Operations
/** The operations of some names. */
export type Of<T extends Tag> = { readonly [K in T]: { readonly _tag: K } & Base & Operations[K]["fields"] }[T]
/** Any operation. */
export type Operation = Of<Tag>
/** What an operation gives. */
export type Result<T extends Tag> = Operations[T]["result"]
