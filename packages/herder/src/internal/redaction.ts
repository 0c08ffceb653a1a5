/** Takes resolved secrets out of texts before anybody sees them. */

/** Replaces every secret in a text. */
export type Redact = (text: string) => string

/** There is nothing to hide. */
export const none: Redact = (text) => text

/** Shorter values are words like "1" or "true": replacing them would tell more than it hides. */
const shortest = 4

/** Secrets: the values of password keys whatever their length, and resolved variables. */
export const make = (passwords: Iterable<string>, resolved: Iterable<string>): Redact => {
  const secrets = new Set<string>()
  for (const secret of passwords) if (secret.length > 0) secrets.add(secret)
  for (const secret of resolved) if (secret.length >= shortest) secrets.add(secret)
  if (secrets.size === 0) return none
  return (text) => {
    const hidden = places(text, secrets)
    let shown = ""
    let end = 0
    for (const [from, to] of hidden) {
      shown += text.slice(end, from) + mark
      end = to
    }
    return shown + text.slice(end)
  }
}

const mark = "[hidden]"

/**
 * Where secrets stand in a text, in order; places that overlap or touch are one. All are looked for in the text as it
 * was: what hides one secret must not break up another, nor be taken for one.
 */
const places = (text: string, secrets: ReadonlySet<string>): ReadonlyArray<readonly [from: number, to: number]> => {
  const found: Array<readonly [from: number, to: number]> = []
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) found.push([at, at + secret.length])
  }
  found.sort(([a], [b]) => a - b)
  const merged: Array<readonly [from: number, to: number]> = []
  for (const [from, to] of found) {
    const last = merged.at(-1)
    if (last === undefined || from > last[1]) merged.push([from, to])
    else merged[merged.length - 1] = [last[0], Math.max(last[1], to)]
  }
  return merged
}
