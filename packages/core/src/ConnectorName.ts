/**
 * The rules for names of connectors.
 *
 * A name is accepted when it can be read, changed and deleted again through its percent-encoded path. So slashes, percent
 * signs, inner spaces, emoji and `__proto__` are fine, and whoever keeps things by name uses a `Map` or own properties.
 * Connect accepts names that it can never reach again (specification, F9).
 */

/** The longest name, in bytes of UTF-8: file systems, headers and stores take that much. */
export const maxBytes = 255

/** Names that are right without a closer look: most are. */
const plain = /^[\w-][\w.-]{0,254}$/

/** Why a name is refused, in Connect's words where it has some; `undefined` when it is accepted. */
export const check = (name: string): string | undefined => {
  if (plain.test(name)) return undefined
  if (name.trim() === "") return "String may not be empty"
  const controls = Array.from(name, (character) => character.codePointAt(0) ?? 0).filter(isControl)
  if (controls.length > 0) {
    const listed = controls.slice(0, 10).join(", ")
    return `String may not contain control sequences but had the following ASCII chars: ${listed}`
  }
  if (name !== name.trim()) return "String may not begin or end with white space"
  if (!name.isWellFormed()) return "String may not contain half of a surrogate pair"
  if (name === "." || name === "..") return "String may not be . or .., which clients resolve away in a path"
  const bytes = utf8Length(name)
  return bytes > maxBytes ? `String may not be longer than ${maxBytes} bytes but had ${bytes}` : undefined
}

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)

const utf8Length = (text: string): number => {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
