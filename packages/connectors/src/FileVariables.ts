/** Variables in a Java-properties file: `${file:/etc/secrets/db.properties:password}` (Connect's FileConfigProvider). */
import { PermanentError, TransientError, VariableProvider } from "@kelpie/core"
import * as Effect from "effect/Effect"
import { allowedPath, allowedPaths } from "./internal/allowedPaths.ts"
import { parseProperties } from "./internal/properties.ts"
import { readSmallFile } from "./internal/readSmallFile.ts"

const read = (allowed: ReadonlyArray<string>): VariableProvider.Read =>
  Effect.fn("FileVariables.read")(function*({ keys, path }) {
    if (path === "") return yield* new PermanentError({ message: "A file variable needs a path: ${file:<path>:<key>}" })
    const text = yield* readSmallFile(yield* allowedPath(path, allowed), path)
    if (text === undefined) {
      return yield* new PermanentError({ message: `Cannot read variables from ${path}: it is not a file` })
    }
    const values = parseProperties(text)
    const missing = keys.find((key) => !values.has(key))
    if (missing !== undefined) return yield* new TransientError({ message: `${path} has no key "${missing}"` })
    return { values: Object.fromEntries(keys.map((key) => [key, values.get(key) ?? ""])) }
  })

/** The provider `file`. A file or a key that is missing may come later: it is transient. The file is read each time. */
export const FileVariables = VariableProvider.make("file", {
  version: "0.1.0",
  aliases: ["org.apache.kafka.common.config.provider.FileConfigProvider", "FileConfigProvider"],
  doc: "Variables in a Java-properties file: the path names the file.",
  config: { allowedPaths },
  open: (config) => Effect.succeed(read(config.allowedPaths))
})
