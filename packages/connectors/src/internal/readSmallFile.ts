/** Reads a file of variables: a regular file that is not huge. */
import { PermanentError, type TransientError } from "@kelpie/core"
import * as Effect from "effect/Effect"
import { constants, open } from "node:fs/promises"
import { unreadable } from "./allowedPaths.ts"

const mostBytes = 1024 * 1024

/** The text of a file in UTF-8; `undefined` when it is something else than a regular file. `name` stands in errors. */
export const readSmallFile = (
  path: string,
  name: string
): Effect.Effect<string | undefined, TransientError | PermanentError> =>
  Effect.tryPromise({
    try: async () => {
      // Not blocking: opening a named pipe would wait for its writer.
      await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
      const about = await file.stat()
      if (!about.isFile()) return undefined
      if (about.size > mostBytes) {
        throw new PermanentError({ message: `Cannot read variables from ${name}: it has over ${mostBytes} bytes` })
      }
      return await file.readFile("utf8")
    },
    catch: (cause) => cause instanceof PermanentError ? cause : unreadable(name, cause)
  })
