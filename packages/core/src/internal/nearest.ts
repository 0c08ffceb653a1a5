/** Names that look like a misspelt one. */

/** The number of single-character edits between two texts. */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substituted))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}

/** Longer names are like nothing, and nothing is like them. */
const maxLength = 100

/** At most three candidates that are close to `name`, best first. */
export const nearest = (name: string, candidates: ReadonlyArray<string>): ReadonlyArray<string> =>
  name.length > maxLength ? [] : closest(name.slice(name.lastIndexOf(".") + 1), candidates)

/** The same for configuration keys, where the dots and what stands before them count. */
export const nearestKey = (key: string, candidates: ReadonlyArray<string>): ReadonlyArray<string> =>
  key.length > maxLength ? [] : closest(key, candidates)

const closest = (name: string, candidates: ReadonlyArray<string>): ReadonlyArray<string> => {
  const wanted = name.toLowerCase()
  const found: Array<{ readonly candidate: string; readonly edits: number }> = []
  for (const candidate of new Set(candidates)) {
    if (candidate.length > maxLength) continue
    const other = candidate.toLowerCase()
    const allowed = Math.max(2, Math.floor(candidate.length / 3))
    const contained = wanted.length > 3 && other.includes(wanted)
    // the lengths alone rule most of them out
    if (!contained && Math.abs(other.length - wanted.length) > allowed) continue
    const edits = distance(wanted, other)
    if (contained || edits <= allowed) found.push({ candidate, edits })
  }
  return found.sort((a, b) => a.edits - b.edits).slice(0, 3).map(({ candidate }) => candidate)
}
