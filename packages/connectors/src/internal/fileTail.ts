/**
 * Follows one file line by line, across truncation and rotation, and can go on from any place that it gave.
 *
 * A place is the byte behind the last line end that was read. With it go the file's inode, to find a file again that was
 * renamed, and a checksum of the bytes before it, to notice a file that was rewritten under the same inode.
 */
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { crc32 } from "node:zlib"
import { fileError, isMissing } from "./fileError.ts"
import { type FolderWatch, folderWatch } from "./folderWatch.ts"
import { lastLine, takeLines } from "./lines.ts"

/** A place in a file. */
export interface Place {
  /** Bytes from the start of the file. */
  readonly position: number
  readonly inode?: string | undefined
  /** CRC-32 of the (at most 256) bytes before `position`. */
  readonly check?: number | undefined
}

/** Lines, and the place behind them. */
export interface Lines {
  readonly lines: ReadonlyArray<string>
  readonly place: Place
}

/** What is followed, and how. */
export interface Options {
  readonly file: string
  readonly maxLines: number
  readonly maxLineBytes: number
  readonly safetyInterval: Duration.Duration
  /** Where to go on; left out: at the start. */
  readonly from: Place | undefined
}

const checkedBytes = 256
const firstBufferBytes = 256 * 1024
const nothing = Buffer.alloc(0)

interface Open {
  readonly handle: fs.FileHandle
  readonly inode: string
}

/** Gives the next lines, as soon as there are any; not before that. Closing the scope closes the file. */
export const fileTail = Effect.fnUntraced(
  function*(options: Options): Effect.fn.Return<Effect.Effect<Lines, ConnectorError>, never, Scope.Scope> {
    const watch = yield* folderWatch({
      folder: path.dirname(options.file),
      names: [path.basename(options.file)],
      safetyInterval: options.safetyInterval
    })
    const tail = new FileTail(options, watch)
    yield* Effect.addFinalizer(() => tail.close)
    return tail.next
  }
)

class FileTail {
  readonly #options: Options
  readonly #watch: FolderWatch
  #from: Place | undefined
  #open: Open | undefined
  #buffer = Buffer.allocUnsafeSlow(firstBufferBytes)
  /** The bytes of the file from `position - before.length` on. */
  #bytes: Buffer = nothing
  /** Where `position` stands in `bytes`. */
  #cursor = 0
  #position = 0
  /** The last bytes before `position`, a copy. */
  #before: Buffer = nothing

  constructor(options: Options, watch: FolderWatch) {
    this.#options = options
    this.#watch = watch
    this.#from = options.from
  }

  readonly next: Effect.Effect<Lines, ConnectorError> = Effect.gen({ self: this }, function*() {
    for (;;) {
      const taken = takeLines(this.#bytes, this.#cursor, this.#options.maxLines, this.#options.maxLineBytes)
      if (taken.lines.length > 0) return this.#advance(taken.lines, taken.next)
      if (taken.tooLong) return yield* this.#tooLong
      if (this.#open === undefined) yield* this.#openFile
      else if (yield* this.#read(this.#open.handle)) continue
      else if (yield* this.#rotated(this.#open)) {
        const rest = yield* this.#leave(this.#open)
        if (rest !== undefined) return rest
      } else yield* this.#watch.changed
    }
  })

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    const open = this.#open
    this.#open = undefined
    return open === undefined ? Effect.void : Effect.ignore(Effect.tryPromise(() => open.handle.close()))
  })

  #advance(lines: ReadonlyArray<string>, next: number): Lines {
    this.#position += next - this.#cursor
    this.#cursor = next
    this.#before = this.#bytes.subarray(Math.max(0, next - checkedBytes), next)
    return {
      lines,
      place: { position: this.#position, inode: this.#open?.inode, check: crc32(this.#before) }
    }
  }

  get #tooLong(): Effect.Effect<never, ConnectorError> {
    const { file, maxLineBytes } = this.#options
    return Effect.fail(
      new PermanentError({
        message:
          `the line at byte ${this.#position} of ${file} is longer than max.line.bytes (${maxLineBytes} bytes); ` +
          `raise max.line.bytes, or set the connector's offset behind the line`
      })
    )
  }

  #attempt<A>(what: string, f: () => Promise<A>): Effect.Effect<A, ConnectorError> {
    return Effect.tryPromise({ try: f, catch: fileError(what, this.#options.file) })
  }

  /** Reads what follows the whole lines; true if there may be more to take than before. */
  #read(handle: fs.FileHandle): Effect.Effect<boolean, ConnectorError> {
    const before = Buffer.from(this.#before)
    const known = this.#bytes.length - this.#cursor
    if (known + before.length === this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(2 * this.#buffer.length)
    }
    const start = this.#position - before.length
    return this.#attempt("read", () => handle.read(this.#buffer, 0, this.#buffer.length, start)).pipe(
      Effect.flatMap(({ bytesRead }) => {
        this.#before = before
        this.#bytes = this.#buffer.subarray(0, bytesRead)
        this.#cursor = before.length
        // the bytes before the position are read again each time: they are others, or gone, after a truncation
        return this.#bytes.subarray(0, before.length).equals(before)
          ? Effect.succeed(bytesRead - before.length !== known)
          : Effect.as(this.#startAgain, true)
      })
    )
  }

  get #startAgain(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const was = this.#position
      this.#reset()
      return Effect.logInfo(
        `${this.#options.file} does not hold any more what was read up to byte ${was}: reading it from its start`
      )
    })
  }

  #reset(): void {
    this.#position = 0
    this.#before = nothing
    this.#bytes = nothing
    this.#cursor = 0
  }

  /**
   * Whether another file has the name now, and is written to. Until then the open one is followed: a writer goes on with
   * the renamed file until it is told to open its file anew.
   */
  #rotated(open: Open): Effect.Effect<boolean, ConnectorError> {
    return Effect.map(
      this.#stat(this.#options.file),
      (stat) => stat !== undefined && stat.size > 0n && String(stat.ino) !== open.inode
    )
  }

  /** Reads the rest of a file that was renamed; when there is none, its last line without an end, and closes it. */
  #leave(open: Open): Effect.Effect<Lines | undefined, ConnectorError> {
    return Effect.gen({ self: this }, function*() {
      // written between the last read and the renaming
      if (yield* this.#read(open.handle)) return undefined
      const rest = lastLine(this.#bytes, this.#cursor)
      const lines = rest.length === 0 ? undefined : this.#advance(rest, this.#bytes.length)
      yield* this.close
      this.#reset()
      return lines
    })
  }

  #stat(file: string) {
    return this.#attempt(
      "read",
      () =>
        fs.stat(file, { bigint: true }).catch((cause: unknown) => isMissing(cause) ? undefined : Promise.reject(cause))
    )
  }

  /** Opens the file where reading goes on, or waits for it to come. */
  get #openFile(): Effect.Effect<void, ConnectorError> {
    return Effect.gen({ self: this }, function*() {
      const from = this.#from
      const renamed = from?.inode === undefined ? undefined : yield* this.#findRenamed(from.inode)
      if (from !== undefined && renamed !== undefined && (yield* this.#openAt(renamed, from))) return
      if (yield* this.#openAt(this.#options.file, from)) return
      yield* this.#watch.changed
    })
  }

  /** True when it is open. A renamed file that does not hold the place is none of ours. */
  #openAt(file: string, from: Place | undefined): Effect.Effect<boolean, ConnectorError> {
    return Effect.gen({ self: this }, function*() {
      const found = yield* this.#stat(file)
      if (found === undefined) return false
      // opening a pipe would wait for its other end
      if (!found.isFile()) return yield* new PermanentError({ message: `${file} is not a regular file` })
      const handle = yield* this.#attempt(
        "read",
        () => fs.open(file, "r").catch((cause: unknown) => isMissing(cause) ? undefined : Promise.reject(cause))
      )
      if (handle === undefined) return false
      const { ino } = yield* this.#attempt("read", () => handle.stat({ bigint: true }))
      this.#open = { handle, inode: String(ino) }
      const same = from !== undefined && (from.inode === undefined || from.inode === this.#open.inode)
      const holds = same && (yield* this.#goTo(handle, from))
      if (!holds && file !== this.#options.file) {
        yield* this.close
        this.#reset()
        return false
      }
      if (same && !holds) yield* this.#startAgain
      this.#from = undefined
      return true
    })
  }

  /** Goes to a stored place; false if the file is shorter, or holds other bytes before it. */
  #goTo(handle: fs.FileHandle, { check, position }: Place): Effect.Effect<boolean, ConnectorError> {
    const length = Math.min(checkedBytes, position)
    const before = Buffer.alloc(length)
    return Effect.map(
      this.#attempt("read", () => handle.read(before, 0, length, position - length)),
      ({ bytesRead }) => {
        this.#position = position
        this.#before = before
        this.#bytes = before
        this.#cursor = length
        return bytesRead === length && (check === undefined || check === crc32(before))
      }
    )
  }

  /** Looks for the file that was read last, if it has another name in the same folder by now. */
  #findRenamed(inode: string): Effect.Effect<string | undefined, ConnectorError> {
    const { dir, base } = path.parse(this.#options.file)
    const stem = base.split(".")[0] || base
    return Effect.gen({ self: this }, function*() {
      const current = yield* this.#stat(this.#options.file)
      if (current !== undefined && String(current.ino) === inode) return undefined
      const names = yield* Effect.orElseSucceed(Effect.tryPromise(() => fs.readdir(dir || ".")), () => [])
      for (const name of names) {
        if (!name.startsWith(stem) || name === base) continue
        const file = path.join(dir, name)
        const stat = yield* this.#stat(file)
        if (stat?.isFile() === true && String(stat.ino) === inode) return file
      }
      return undefined
    })
  }
}
