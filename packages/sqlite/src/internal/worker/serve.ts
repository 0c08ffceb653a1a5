/**
 * The loop of a worker thread: takes everything that waits, does the writes in one transaction, and answers.
 *
 * Group commit: while a transaction is on its way to the disk, questions queue up; all of them that write share the next
 * transaction and its one sync. Each has a savepoint, so that one that is refused takes only itself back. Answers to
 * writes leave after the commit. Reads run outside the transaction, so they show only what is durable; one that was asked
 * after a write sees it, and one that was asked just before it may.
 */
import * as path from "node:path"
import type { StatementSync } from "node:sqlite"
import { type MessagePort, parentPort, receiveMessageOnPort, type Transferable } from "node:worker_threads"
import type { Calls, Message, Opened, Opening, Outcome, Reply } from "../calls.ts"
import { codeOf, type Failure, Refusal, sqliteCode, toFailure } from "../failure.ts"
import type { Open } from "./openDatabase.ts"

/** How an operation is done. A `write` runs in a transaction and throws to be taken back. */
export type Handler<Request, Answer> = {
  readonly kind: "read" | "write"
  readonly run: (request: Request) => Answer
  /** What of the answer moves to the main thread instead of being copied. */
  readonly transfer?: ((answer: Answer) => ReadonlyArray<Transferable>) | undefined
}
/** All operations but those of the loop itself. */
export type Handlers<C extends Calls<C>> = {
  readonly [K in Exclude<keyof C, "open" | "close">]: Handler<C[K]["request"], C[K]["answer"]>
}
/** What the loop tells an opened file. */
interface Hooks {
  /** News for the main thread after a round, told before its answers; `undefined` for none. */
  readonly news?: (() => unknown) | undefined
  /** Runs after each round, when its answers are on their way. */
  readonly tidy?: (() => void) | undefined
  readonly closing?: (() => void) | undefined
}
/** An opened file with its operations. */
export interface Engine<C extends Calls<C>> extends Open, Hooks {
  readonly handlers: Handlers<C>
}

/** Bounds a round, and with it how long its first answer waits for the others. */
const maxRound = 1024

type AnyHandler = Handler<unknown, unknown>

interface Serving {
  readonly engine: Open & Hooks
  readonly handlers: ReadonlyMap<string, AnyHandler>
  readonly fail: (id: number, cause: unknown) => Reply
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly rollback: StatementSync
  readonly savepoint: StatementSync
  readonly release: StatementSync
  readonly rollbackTo: StatementSync
}

const prepare = (engine: Serving["engine"], handlers: object, busyTimeoutMillis: number): Serving => ({
  engine,
  // the erasure boundary: `name` and `request` come from a client that is typed by the same `Calls`
  handlers: new Map(Object.entries(handlers)),
  fail: (id, cause) => ({ id, ok: false, failure: toFailure(engine.file, busyTimeoutMillis, cause) }),
  begin: engine.database.prepare("BEGIN IMMEDIATE"),
  commit: engine.database.prepare("COMMIT"),
  rollback: engine.database.prepare("ROLLBACK"),
  savepoint: engine.database.prepare("SAVEPOINT one"),
  release: engine.database.prepare("RELEASE one"),
  rollbackTo: engine.database.prepare("ROLLBACK TO one")
})

/** The writes of a round in one transaction. */
const transact = (serving: Serving, writes: ReadonlyArray<Message>): ReadonlyArray<Reply> => {
  const { database } = serving.engine
  const replies: Array<Reply> = []
  const all = (cause: unknown) =>
    writes.map(({ id }, index) => {
      const reply = replies[index]
      return reply?.ok === false ? reply : serving.fail(id, cause)
    })
  try {
    serving.begin.run()
  } catch (cause) {
    return all(cause)
  }
  for (const write of writes) {
    const reply = writes.length === 1 ? attempt(serving, write) : attemptAlone(serving, write)
    if (!database.isTransaction) return oneByOne(serving, writes, reply)
    replies.push(reply)
  }
  // a single refused write leaves nothing to make durable
  if (writes.length === 1 && replies[0]?.ok === false) {
    serving.rollback.run()
    return replies
  }
  try {
    serving.commit.run()
    return replies
  } catch (cause) {
    if (database.isTransaction) serving.rollback.run()
    return codeOf(cause) === sqliteCode.full && writes.length > 1 ? oneByOne(serving, writes) : all(cause)
  }
}

/** Some errors, a full disk first of all, take the whole transaction back: then each write gets one of its own. */
const oneByOne = (serving: Serving, writes: ReadonlyArray<Message>, reply?: Reply): ReadonlyArray<Reply> =>
  writes.length === 1 && reply !== undefined ? [reply] : writes.flatMap((write) => transact(serving, [write]))

const attempt = (serving: Serving, { id, name, request }: Message): Reply => {
  const handler = serving.handlers.get(name)
  try {
    if (handler === undefined) throw new Refusal("Unavailable", `there is no operation "${name}"`)
    return { id, ok: true, answer: handler.run(request) }
  } catch (cause) {
    return serving.fail(id, cause)
  }
}

const attemptAlone = (serving: Serving, write: Message): Reply => {
  serving.savepoint.run()
  const reply = attempt(serving, write)
  if (!serving.engine.database.isTransaction) return reply
  if (!reply.ok) serving.rollbackTo.run()
  serving.release.run()
  return reply
}

/** One round: what waits, at most `maxRound`. */
const round = (serving: Serving, port: MessagePort, messages: ReadonlyArray<Message>) => {
  const isWrite = ({ name }: Message) => serving.handlers.get(name)?.kind === "write"
  const writes = messages.filter(isWrite)
  const replies = writes.length === 0 ? [] : [...transact(serving, writes)]
  const transfer: Array<Transferable> = []
  for (const message of messages) {
    if (isWrite(message) || message.name === "close") continue
    const reply = attempt(serving, message)
    replies.push(reply)
    const moved = serving.handlers.get(message.name)?.transfer
    if (reply.ok && moved !== undefined) transfer.push(...moved(reply.answer))
  }
  port.postMessage({ news: serving.engine.news?.(), replies } satisfies Outcome, transfer)
  serving.engine.tidy?.()
}

/** Leaves the file as one file without a log, if nobody else has it open. */
const close = (serving: Serving): Failure | undefined => {
  try {
    serving.engine.closing?.()
    serving.engine.database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    serving.engine.database.close()
    return undefined
  } catch (cause) {
    return toFailure(serving.engine.file, 0, cause)
  }
}

const take = (port: MessagePort, first: Message): ReadonlyArray<Message> => {
  const messages = [first]
  while (messages.length < maxRound) {
    const next: { readonly message: Message } | undefined = receiveMessageOnPort(port)
    if (next === undefined) break
    messages.push(next.message)
  }
  return messages
}

/**
 * Serves the thread that started this one. The first question is `open`, the last one `close`; after it, or after an
 * `open` that failed, the thread ends.
 */
export const serve = <C extends Calls<C> & { readonly open: { readonly request: Opening; readonly answer: Opened } }>(
  fileName: string,
  open: (opening: C["open"]["request"]) => Engine<C>
): void => {
  const port = parentPort
  if (port === null) throw new Error("this module is the start of a worker thread")
  let serving: Serving | undefined
  const start = ({ id, request }: Message) => {
    const opening = request as C["open"]["request"] // the first message of our own client
    try {
      const engine = open(opening)
      serving = prepare(engine, engine.handlers, opening.busyTimeoutMillis)
      port.postMessage({ news: engine.news?.(), replies: [{ id, ok: true, answer: engine.opened }] } satisfies Outcome)
    } catch (cause) {
      const failure = toFailure(path.join(opening.directory, fileName), opening.busyTimeoutMillis, cause)
      port.postMessage({ news: undefined, replies: [{ id, ok: false, failure }] } satisfies Outcome)
      port.close()
    }
  }
  port.on("message", (first: Message) => {
    if (serving === undefined) return start(first)
    const messages = take(port, first)
    round(serving, port, messages)
    const last = messages.at(-1)
    if (last?.name !== "close") return
    const failure = close(serving)
    const reply: Reply = failure === undefined
      ? { id: last.id, ok: true, answer: null }
      : { id: last.id, ok: false, failure }
    port.postMessage({ news: undefined, replies: [reply] } satisfies Outcome)
    port.close()
  })
}
