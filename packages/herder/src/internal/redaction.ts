/** Takes resolved secrets out of texts before anybody sees them. */

/** Replaces every secret in a text. */
export type Redact = (text: string) => string

/** Shorter values are words like "1" or "true": replacing them would tell more than it hides. */
const shortest = 4

/** Secrets: the values of password keys whatever their length, and resolved variables. */
export const make = (passwords: Iterable<string>, resolved: Iterable<string>): Redact => {
  const secrets = new Set<string>()
  for (const secret of passwords) if (secret.length > 0) secrets.add(secret)
  for (const secret of resolved) if (secret.length >= shortest) secrets.add(secret)
  if (secrets.size === 0) return (text) => text
  // the longest first: a secret may contain another
  const ordered = [...secrets].sort((a, b) => b.length - a.length)
  return (text) => ordered.reduce((all, secret) => all.includes(secret) ? all.split(secret).join("[hidden]") : all, text)
}
