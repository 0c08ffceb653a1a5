/** Waits for changes of files by events of the file system, with a slow look now and then where it sends none. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"

/** Tells when something may have changed. */
export interface FolderWatch {
  /** Ends at the first event since it ended last, or after the safety interval. */
  readonly changed: Effect.Effect<void>
}

/**
 * Watches a folder for events of the given names. The folder may be missing, or go and come back: while it is not
 * watched only the safety interval ends a wait. Look at the files *after* `folderWatch` and after each `changed`: then no
 * change is missed.
 */
export const folderWatch = Effect.fnUntraced(function*(options: {
  readonly folder: string
  readonly names: ReadonlyArray<string>
  readonly safetyInterval: Duration.Duration
}): Effect.fn.Return<FolderWatch, never, Scope.Scope> {
  const latch = Latch.makeUnsafe(false)
  const watched = new Watched(options.folder, new Set(options.names), () => latch.openUnsafe())
  yield* Effect.addFinalizer(() => Effect.sync(() => watched.close()))
  watched.renew()
  return {
    changed: latch.await.pipe(
      Effect.timeoutOrElse({
        duration: options.safetyInterval,
        orElse: () => Effect.sync(() => watched.renew())
      }),
      Effect.andThen(Effect.sync(() => latch.closeUnsafe()))
    )
  }
})

class Watched {
  #watcher: fs.FSWatcher | undefined
  #inode: bigint | undefined
  readonly #folder: string
  readonly #names: ReadonlySet<string>
  readonly #onEvent: () => void

  constructor(folder: string, names: ReadonlySet<string>, onEvent: () => void) {
    this.#folder = folder
    this.#names = names
    this.#onEvent = onEvent
  }

  /** Watches the folder that has the name now: a watch goes on with a folder that was removed, and sees nothing. */
  renew(): void {
    const inode = fs.statSync(this.#folder, { bigint: true, throwIfNoEntry: false })?.ino
    if (inode === this.#inode && this.#watcher !== undefined) return
    this.close()
    if (inode === undefined) return
    try {
      this.#watcher = fs.watch(this.#folder, { persistent: false }, (_, name) => {
        if (name === null || this.#names.has(name)) this.#onEvent()
      })
      this.#watcher.on("error", () => this.close())
      this.#inode = inode
    } catch {
      // no more watches are allowed, or no permission: the safety interval does the work
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }
}
