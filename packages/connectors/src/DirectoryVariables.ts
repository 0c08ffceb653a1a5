/**
 * Variables in the files of a directory, one file a key, as Kubernetes mounts secrets:
 * `${directory:/etc/secrets:password}` (Connect's DirectoryConfigProvider).
 */
import { PermanentError, TransientError, VariableProvider } from "@kelpie/core"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { allowedPath, allowedPaths } from "./internal/allowedPaths.ts"
import { readSmallFile } from "./internal/readSmallFile.ts"

/** Whether a key is the name of a file, and not a way to another directory. */
const isFileName = (key: string): boolean => key !== "" && key !== "." && key !== ".." && !/[/\\\0]/.test(key)

const readKey = Effect.fnUntraced(function*(directory: string, key: string, allowed: ReadonlyArray<string>) {
  const path = join(directory, key)
  if (!isFileName(key)) {
    return yield* new PermanentError({ message: `A key of ${directory} must be the name of a file, not "${key}"` })
  }
  const text = yield* readSmallFile(yield* allowedPath(path, allowed), path)
  if (text === undefined) return yield* new TransientError({ message: `${path} is not a file` })
  return [key, text] as const
})

const read = (allowed: ReadonlyArray<string>): VariableProvider.Read =>
  Effect.fn("DirectoryVariables.read")(function*({ keys, path }) {
    if (path === "") {
      return yield* new PermanentError({ message: "A directory variable needs a path: ${directory:<path>:<file>}" })
    }
    const entries = yield* Effect.forEach(keys, (key) => readKey(path, key, allowed))
    return { values: Object.fromEntries(entries) }
  })

/**
 * The provider `directory`. A value is the whole text of its file, line ends included. A file that is missing may come
 * later: it is transient.
 */
export const DirectoryVariables = VariableProvider.make("directory", {
  version: "0.1.0",
  aliases: ["org.apache.kafka.common.config.provider.DirectoryConfigProvider", "DirectoryConfigProvider"],
  doc: "Variables in the files of a directory: the path names the directory, the key the file.",
  config: { allowedPaths },
  open: (config) => Effect.succeed(read(config.allowedPaths))
})
