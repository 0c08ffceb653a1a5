/** The names of flattened fields: a prefix, a delimiter and a name. */

/** As many names as are remembered; with more of them the memory starts anew. */
const capacity = 8192

/**
 * Joins names, and remembers what it joined: a text that was joined before is found faster as the name of a member than a
 * new one. Without a prefix the name stays as it is.
 */
export const joinedNames = (delimiter: string): (prefix: string, name: string) => string => {
  const known = new Map<string, Map<string, string>>()
  let count = 0
  return (prefix, name) => {
    if (prefix === "") return name
    const names = known.get(prefix)
    const found = names?.get(name)
    if (found !== undefined) return found
    const joined = `${prefix}${delimiter}${name}`
    if (count >= capacity) {
      known.clear()
      count = 0
    }
    count += 1
    if (names === undefined || count === 1) known.set(prefix, new Map([[name, joined]]))
    else names.set(name, joined)
    return joined
  }
}
