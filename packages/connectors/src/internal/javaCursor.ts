/** Where the translation of a regular expression is, what groups it has seen, and how it writes characters. */

/** A position in an expression. */
export interface Cursor {
  readonly done: () => boolean
  /** Whether a character comes next. */
  readonly at: (character: string) => boolean
  /** The next character, empty at the end. */
  readonly peek: () => string
  /** The character after the next. */
  readonly peekSecond: () => string
  /** Takes the next character, whatever it is. */
  readonly next: () => string
  /** Takes a text if it comes next. */
  readonly take: (text: string) => boolean
  /** Takes what a sticky expression matches here. */
  readonly match: (form: RegExp) => RegExpExecArray | undefined
  /** Counts one more group that captures. */
  readonly open: (name: string | undefined) => number
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
  /** The error for what stands here. */
  readonly fail: (reason: string) => Error
}

/** A cursor at the start of an expression. */
export const make = (pattern: string): Cursor => {
  const names = new Map<string, number>()
  let position = 0
  let groups = 0
  const characterAt = (index: number): string => {
    const code = pattern.codePointAt(index)
    return code === undefined ? "" : String.fromCodePoint(code)
  }
  const self: Cursor = {
    done: () => position >= pattern.length,
    at: (character) => pattern.startsWith(character, position),
    peek: () => characterAt(position),
    peekSecond: () => characterAt(position + characterAt(position).length),
    next: () => {
      const character = characterAt(position)
      position += character.length
      return character
    },
    take: (text) => {
      const found = pattern.startsWith(text, position)
      if (found) position += text.length
      return found
    },
    match: (form) => {
      form.lastIndex = position
      const found = form.exec(pattern)
      if (found !== null) position += found[0].length
      return found ?? undefined
    },
    open: (name) => {
      groups += 1
      if (name !== undefined && names.has(name)) throw self.fail(`two groups have the name ${name}`)
      if (name !== undefined) names.set(name, groups)
      return groups
    },
    get groups() {
      return groups
    },
    names,
    fail: (reason) => new Error(`${reason} (before position ${position})`)
  }
  return self
}

/** A character that stands for itself, within a class and outside. */
export const literal = (character: string): string => {
  if (/^[0-9A-Za-z]$/.test(character)) return character
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return `\\u{${code}}`
}

const controls: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", a: "\x07", e: "\x1b" }

/** The character that an escape stands for; the cursor is behind the backslash. */
export const escaped = (cursor: Cursor): string => {
  const numeric = cursor.match(
    /u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|0([0-3][0-7]{2}|[0-7]{1,2})/y
  )
  if (numeric !== undefined) return numbered(cursor, numeric)
  const control = cursor.match(/c([\x21-\x7e])/y)?.[1]
  if (control !== undefined) return String.fromCodePoint((control.codePointAt(0) ?? 0) ^ 64)
  const character = cursor.next()
  if (character === "") throw cursor.fail("nothing follows the backslash")
  const known = controls[character]
  if (known !== undefined) return known
  if (/^[0-9A-Za-z]$/.test(character)) throw cursor.fail(`\\${character} is not supported`)
  return character
}

const numbered = (cursor: Cursor, [, unicode, short, long, octal]: RegExpExecArray): string => {
  const code = octal === undefined ? Number.parseInt(unicode ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8)
  if (code > 0x10ffff) throw cursor.fail("no such character")
  const low = code >= 0xd800 && code < 0xdc00 ? cursor.match(/\\u([dD][c-fC-F][0-9a-fA-F]{2})/y)?.[1] : undefined
  return low === undefined ? String.fromCodePoint(code) : String.fromCharCode(code, Number.parseInt(low, 16))
}
