/** Work that depends on a topic's name only, done once per name and not once per record. */

/** As many topics as are remembered; with more of them the memory starts anew. */
const capacity = 1024

/** Remembers the result for each topic. */
export const perTopic = <A extends {}>(make: (topic: string) => A): (topic: string) => A => {
  const known = new Map<string, A>()
  return (topic) => {
    const found = known.get(topic)
    if (found !== undefined) return found
    const made = make(topic)
    if (known.size >= capacity) known.clear()
    known.set(topic, made)
    return made
  }
}
