/** The errors of the file system, in words that name the file and say what to do. */
import { PermanentError, TransientError } from "@kelpie/core/ConnectorError"

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : cause instanceof Error ? cause.name : "unknown"

/** Whether the file, or a folder on the way to it, does not exist. */
export const isMissing = (cause: unknown): boolean => codeOf(cause) === "ENOENT"

// what somebody has to change before it can work
const permanent: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its symbolic links go in circles",
  EROFS: "the file system is read-only"
}

/** Maps what `node:fs` fails with while it tries to do `what` ("read", "write to") with a file. */
export const fileError = (what: string, file: string) => (cause: unknown): TransientError | PermanentError => {
  const code = codeOf(cause)
  const reason = permanent[code]
  return reason === undefined
    ? new TransientError({ message: `cannot ${what} ${file}: ${code}`, cause })
    : new PermanentError({ message: `cannot ${what} ${file}: ${reason} (${code})`, cause })
}
