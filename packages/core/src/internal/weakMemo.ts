/** Remembers what a pure function gave for an object, as long as the object lives. */
export const weakMemo = <K extends object, A>(f: (key: K) => A): (key: K) => A => {
  const known = new WeakMap<K, { readonly value: A }>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found.value
    const value = f(key)
    known.set(key, { value })
    return value
  }
}
