/** Which paths a variable provider may read: `allowed.paths`, with symbolic links resolved on both sides. */
import { ConfigKey, PermanentError, TransientError } from "@kelpie/core"
import * as Effect from "effect/Effect"
import { realpath } from "node:fs/promises"
import { isAbsolute, relative, resolve, sep } from "node:path"

/** The key that says them; without it, all are. */
export const allowedPaths = ConfigKey.List("allowed.paths", {
  default: [],
  doc: "The folders and files that may be read, separated by commas; absolute paths. Empty: all of them.",
  check: (paths: ReadonlyArray<string>) =>
    paths.every((path) => isAbsolute(path)) ? undefined : "Every path must be absolute"
})

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** What went wrong, without what the file holds. */
export const unreadable = (path: string, cause: unknown): TransientError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error"
  const reason = code === "ENOENT" ? "it does not exist" : code
  return new TransientError({ message: `Cannot read variables from ${path}: ${reason}`, cause })
}

const real = (path: string): Effect.Effect<string, TransientError> =>
  Effect.tryPromise({ try: () => realpath(path), catch: (cause) => unreadable(path, cause) })

const refused = (path: string): PermanentError =>
  new PermanentError({ message: `${path} is outside of allowed.paths of this variable provider` })

/**
 * The real path of a file or folder that may be read. Fails with a `PermanentError` when it is not allowed, and with a
 * `TransientError` when it cannot be found (yet).
 */
export const allowedPath: (
  path: string,
  allowed: ReadonlyArray<string>
) => Effect.Effect<string, TransientError | PermanentError> = Effect.fnUntraced(function*(path, allowed) {
  if (allowed.length === 0) return yield* real(path)
  const named = allowed.some((folder) => isWithin(resolve(folder), resolve(path)))
  // Where nothing may be read, nothing is told about what exists.
  const target = yield* Effect.mapError(real(path), (error) => named ? error : refused(path))
  const folders = yield* Effect.forEach(allowed, (folder) => Effect.option(real(folder)))
  const isAllowed = folders.some((folder) => folder._tag === "Some" && isWithin(folder.value, target))
  return isAllowed ? target : yield* refused(path)
})
