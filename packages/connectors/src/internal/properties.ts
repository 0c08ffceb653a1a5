/** Reads Java's `.properties` format: comments, three separators, continued lines and escapes. */

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" }

/** Undoes the escapes of a key or a value; a backslash before any other character is dropped. */
const unescape = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, hex: string | undefined, char: string | undefined) =>
      hex === undefined ? escapes[char ?? ""] ?? char ?? "" : String.fromCharCode(Number.parseInt(hex, 16)))
    : text

/** An odd number of backslashes at the end: the next line belongs to this one. */
const isContinued = (line: string): boolean => {
  const backslashes = line.length - line.replace(/\\+$/, "").length
  return backslashes % 2 === 1
}

const withoutIndent = (line: string): string => line.replace(/^[ \t\f]+/, "")

const isComment = (line: string): boolean => line.startsWith("#") || line.startsWith("!")

/** The lines that say something, continued ones joined. A comment is never continued, an empty line may end one. */
const logicalLines = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let open: string | undefined
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = withoutIndent(natural)
    if (open === undefined && (line === "" || isComment(line))) continue
    const joined = (open ?? "") + line
    if (isContinued(joined)) {
      open = joined.slice(0, -1)
      continue
    }
    lines.push(joined)
    open = undefined
  }
  return open === undefined ? lines : [...lines, open]
}

const entry = /^((?:[^=: \t\f\\]|\\[^])*)[ \t\f]*[=:]?[ \t\f]*([^]*)$/

/** The keys and values of a text; of a repeated key the last value. Anything is a legal text. */
export const parseProperties = (text: string): ReadonlyMap<string, string> => {
  const values = new Map<string, string>()
  for (const line of logicalLines(text)) {
    const [, key = "", value = ""] = entry.exec(line) ?? []
    values.set(unescape(key), unescape(value))
  }
  return values
}
