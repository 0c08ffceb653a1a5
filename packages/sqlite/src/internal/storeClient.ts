/**
 * The main thread's side of a worker thread that owns one database file: questions, answers, and the end.
 *
 * The thread keeps the process alive only while a question is open. A caller that is interrupted leaves its question
 * behind; what it asked for may happen, and its answer is still looked at by `onAnswer`.
 */
import { StoreError } from "@kelpie/core/StoreError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { type Transferable, Worker } from "node:worker_threads"
import type { Calls, Message, Opened, Opening, Outcome, Reply } from "./calls.ts"

/** How a question is asked. */
export interface Asking<Answer> {
  /** What it is called in errors. */
  readonly operation: string
  readonly transfer?: ReadonlyArray<Transferable> | undefined
  /** Sees a good answer first, even when the caller is gone. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined
}

/** A worker thread with its file open. */
export interface Client<C extends Calls<C>> {
  readonly call: <K extends keyof C & string>(
    name: K,
    request: C[K]["request"],
    asking: Asking<C[K]["answer"]>
  ) => Effect.Effect<C[K]["answer"], StoreError>
  readonly opened: Opened
}

interface Pending {
  readonly operation: string
  readonly onAnswer: ((answer: unknown) => void) | undefined
  resume: (exit: Exit.Exit<unknown, StoreError>) => void
}

/** Node runs the sources as they are and the published package as JavaScript. */
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"

const unavailable = (operation: string, detail: string) => new StoreError({ kind: "Unavailable", operation, detail })

const settle = ({ onAnswer, operation, resume }: Pending, reply: Reply) => {
  if (reply.ok) {
    onAnswer?.(reply.answer)
    return resume(Exit.succeed(reply.answer))
  }
  const { detail, kind } = reply.failure
  resume(Exit.fail(new StoreError({ kind, operation, ...detail === undefined ? {} : { detail } })))
}

/** A thread that was started, and the questions it has not answered. */
const start = (name: "control" | "data", file: string, onNews: (news: unknown) => void) => {
  const pending = new Map<number, Pending>()
  let ids = 0
  /** Why no question is taken any more. */
  let ended: string | undefined
  let closing = false
  let onExit = () => {}
  const worker = new Worker(new URL(`./worker/${name}.${extension}`, import.meta.url), { name: `kelpie-${name}` })
  worker.unref()
  worker.on("message", (outcome: Outcome) => {
    if (outcome.news !== undefined) onNews(outcome.news)
    const answered = outcome.replies.map((reply) => [pending.get(reply.id), reply] as const)
    for (const reply of outcome.replies) pending.delete(reply.id)
    // before the callers go on: they may ask the next question at once
    if (pending.size === 0) worker.unref()
    for (const [asked, reply] of answered) {
      if (asked !== undefined) settle(asked, reply)
    }
  })
  worker.on("error", (cause) => {
    ended = `the worker thread of ${file} failed: ${cause instanceof Error ? cause.message : String(cause)}`
  })
  worker.on("exit", () => {
    ended ??= `${file} is closed`
    for (const { operation, resume } of pending.values()) resume(Exit.fail(unavailable(operation, ended)))
    pending.clear()
    onExit()
  })
  const post = (message: Message, transfer: ReadonlyArray<Transferable>, asked: Pending) => {
    if (pending.size === 0) worker.ref()
    pending.set(message.id, asked)
    worker.postMessage(message, transfer)
  }
  const ask = (name: string, request: unknown, asking: Asking<unknown>): Effect.Effect<unknown, StoreError> =>
    Effect.callback((resume) => {
      const refusal = ended ?? (closing && name !== "close" ? `${file} is closed` : undefined)
      if (refusal !== undefined) return resume(Effect.fail(unavailable(asking.operation, refusal)))
      const asked: Pending = { operation: asking.operation, onAnswer: asking.onAnswer, resume }
      post({ id: ++ids, name, request }, asking.transfer ?? [], asked)
      return Effect.sync(() => {
        asked.resume = () => {}
      })
    })
  const exited = Effect.callback<void>((resume) => {
    if (ended !== undefined) return resume(Effect.void)
    worker.ref()
    onExit = () => resume(Effect.void)
  })
  /** Everything that was asked before is answered first. */
  const close = Effect.suspend(() => {
    closing = true
    return ask("close", null, { operation: "close" })
  })
  return { ask, close, exited }
}

/** Starts the thread and opens the file; the scope's end answers what was asked, and closes both. */
export const make = Effect.fnUntraced(function*<
  C extends Calls<C> & { readonly open: { readonly request: Opening; readonly answer: Opened } }
>(options: {
  readonly name: "control" | "data"
  readonly file: string
  readonly opening: C["open"]["request"]
  readonly onNews?: ((news: unknown) => void) | undefined
}): Effect.fn.Return<Client<C>, StoreError, Scope.Scope> {
  const { file, name, onNews = () => {}, opening } = options
  const thread = yield* Effect.acquireRelease(
    Effect.sync(() => start(name, file, onNews)),
    // after an `open` that failed the thread ends by itself
    (thread) => Effect.andThen(Effect.ignore(thread.close), thread.exited)
  )
  // the erasure boundary: the worker's handlers are typed by the same `Calls`
  const call = thread.ask as Client<C>["call"]
  const opened = yield* call("open", opening, { operation: `open ${name}.db` })
  return { call, opened }
})
