/**
 * A latch for what mostly waits. A task has several and most tasks are idle, so one costs a few words until somebody
 * waits for it, where Effect's own holds an effect for each of its operations.
 */
import * as Effect from "effect/Effect"

/** The part of a latch that is needed. */
export interface Signal {
  readonly isOpen: () => boolean
  /** Whoever waits goes on at once, on the stack of the caller. */
  readonly openUnsafe: () => boolean
  readonly closeUnsafe: () => boolean
  readonly await: Effect.Effect<void>
}

class SignalImpl implements Signal {
  #open: boolean
  #waiters: Array<(effect: Effect.Effect<void>) => void> | undefined

  constructor(open: boolean) {
    this.#open = open
  }

  isOpen(): boolean {
    return this.#open
  }

  openUnsafe(): boolean {
    if (this.#open) return false
    this.#open = true
    const waiters = this.#waiters
    this.#waiters = undefined
    if (waiters !== undefined) { for (const resume of waiters) resume(Effect.void) }
    return true
  }

  closeUnsafe(): boolean {
    const was = this.#open
    this.#open = false
    return was
  }

  get await(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (this.#open) return resume(Effect.void)
      const waiters = this.#waiters ??= []
      waiters.push(resume)
      return Effect.sync(() => {
        const place = waiters.indexOf(resume)
        if (place >= 0) waiters.splice(place, 1)
      })
    })
  }
}

/** A signal, open or closed. */
export const make = (open: boolean): Signal => new SignalImpl(open)
