/** Changes over a persistent map: each entry is looked up once and written once, however often it is read and set. */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"

interface Entry<A> {
  readonly before: A | undefined
  now: A | undefined
}

/** A mutable view of a map that stays as it is. */
export class Overlay<A> {
  readonly #before: HashMap.HashMap<string, A>
  readonly #entries = new Map<string, Entry<A>>()

  constructor(before: HashMap.HashMap<string, A>) {
    this.#before = before
  }

  #entry(key: string): Entry<A> {
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      const before = Option.getOrUndefined(HashMap.get(this.#before, key))
      entry = { before, now: before }
      this.#entries.set(key, entry)
    }
    return entry
  }

  get(key: string): A | undefined {
    return this.#entry(key).now
  }

  /** `undefined` removes. */
  set(key: string, value: A | undefined): void {
    this.#entry(key).now = value
  }

  /** The keys of the map below. */
  keys(): Iterable<string> {
    return HashMap.keys(this.#before)
  }

  /** Entries that differ, with what they were. */
  *changed(): Iterable<readonly [key: string, now: A | undefined, before: A | undefined]> {
    for (const [key, { before, now }] of this.#entries) if (now !== before) yield [key, now, before]
  }

  /** The map with the changes; the same map when nothing differs. */
  finish(): HashMap.HashMap<string, A> {
    const changes = [...this.changed()]
    return changes.length === 0 ? this.#before : HashMap.mutate(this.#before, (map) => {
      for (const [key, now] of changes) {
        if (now === undefined) HashMap.remove(map, key)
        else HashMap.set(map, key, now)
      }
    })
  }
}
