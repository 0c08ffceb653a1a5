/**
 * The local life of an item on the worker that owns it: nothing runs, it starts, it runs, it stops, it failed.
 *
 * What should run is decided elsewhere, from the log; here stands only what follows. Results of another run than the
 * present one never reach the table. A failed run has closed everything that it held.
 */
import type * as Item from "@kelpie/core/Item"
import * as Machine from "@kelpie/core/Machine"

/** Why a run failed. */
export interface Failure {
  /** `permanent` is never restarted. */
  readonly class: "transient" | "permanent" | "defect" | "timed-out" | "fenced"
  /** What people read as the trace; holds no secret. */
  readonly trace: string
}

/** The state of an item on this worker. Times are epoch milliseconds. */
export type RunState =
  | { readonly _tag: "Idle" }
  /** Waits for a slot. */
  | { readonly _tag: "Queued" }
  | { readonly _tag: "Starting"; readonly run: Item.Run }
  | { readonly _tag: "Running"; readonly run: Item.Run; readonly since: number }
  | { readonly _tag: "Stopping"; readonly run: Item.Run }
  | {
    readonly _tag: "Failed"
    readonly run: Item.Run
    readonly failure: Failure
    /** When it is started anew under the restart policy. */
    readonly restartAt: number | undefined
  }

/** What happens to it. */
export type Event =
  | { readonly _tag: "Wanted" }
  /** It should not run, or not in this form. */
  | { readonly _tag: "Unwanted" }
  | { readonly _tag: "Admitted" }
  | { readonly _tag: "Started" }
  | { readonly _tag: "Failed"; readonly failure: Failure }
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Due" }

/** What a transition may use besides the state. */
export interface Context {
  readonly now: number
  /** The run that starts next. */
  readonly run: Item.Run
  /** When to restart after a failure; `undefined` for never. */
  readonly restartAt: (failure: Failure) => number | undefined
}

/** What follows from a transition. */
export type Command =
  | { readonly _tag: "Start"; readonly run: Item.Run }
  | { readonly _tag: "Stop"; readonly run: Item.Run }

const idle = { _tag: "Idle" } as const
const nothing = "nothing runs"

const failed = (run: Item.Run, failure: Failure, context: Context) =>
  [{ _tag: "Failed", run, failure, restartAt: context.restartAt(failure) }, []] as const

/** The transition table. */
export const machine = Machine.make<RunState, Event, Context, Command>("run", ({ illegal, stay, to }) => ({
  Idle: {
    Wanted: to("Queued")(() => [{ _tag: "Queued" }, []]),
    Unwanted: stay,
    Admitted: illegal("it asks for no slot"),
    Started: illegal(nothing),
    Failed: illegal(nothing),
    Stopped: illegal(nothing),
    Due: illegal("it has no timer")
  },
  Queued: {
    Wanted: stay,
    Unwanted: to("Idle")(() => [idle, []]),
    Admitted: to("Starting")((_, __, { run }) => [{ _tag: "Starting", run }, [{ _tag: "Start", run }]]),
    Started: illegal(nothing),
    Failed: illegal(nothing),
    Stopped: illegal(nothing),
    Due: illegal("it has no timer")
  },
  Starting: {
    Wanted: stay,
    Unwanted: to("Stopping")(({ run }) => [{ _tag: "Stopping", run }, [{ _tag: "Stop", run }]]),
    Admitted: illegal("it has its slot"),
    Started: to("Running")(({ run }, _, { now }) => [{ _tag: "Running", run, since: now }, []]),
    Failed: to("Failed")(({ run }, { failure }, context) => failed(run, failure, context)),
    Stopped: illegal("nobody stopped it"),
    Due: illegal("it has no timer")
  },
  Running: {
    Wanted: stay,
    Unwanted: to("Stopping")(({ run }) => [{ _tag: "Stopping", run }, [{ _tag: "Stop", run }]]),
    Admitted: illegal("it runs"),
    Started: illegal("it has started"),
    Failed: to("Failed")(({ run }, { failure }, context) => failed(run, failure, context)),
    Stopped: illegal("nobody stopped it"),
    Due: illegal("it has no timer")
  },
  Stopping: {
    Wanted: stay,
    Unwanted: stay,
    Admitted: illegal("it still stops"),
    Started: stay, // it started while it was told to stop
    Failed: stay, // as above; its end is told by `Stopped`
    Stopped: to("Idle")(() => [idle, []]),
    Due: illegal("it has no timer")
  },
  Failed: {
    Wanted: stay,
    Unwanted: to("Idle")(() => [idle, []]),
    Admitted: illegal("it waits for somebody to act"),
    Started: illegal(nothing),
    Failed: illegal(nothing),
    Stopped: illegal(nothing),
    Due: to("Queued")(() => [{ _tag: "Queued" }, []])
  }
}))
