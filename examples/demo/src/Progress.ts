/** Tells what is going on: on a terminal the last line is rewritten as it changes, elsewhere lines come now and then. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const spacingMillis = 1000
/** Of a terminal that does not say how wide it is. */
const unknownWidth = 80

/** Writes to standard output. */
export class Progress {
  readonly #terminal = process.stdout.isTTY
  readonly #startedAt: number
  #lastAt = 0
  #live = false

  private constructor(startedAt: number) {
    this.#startedAt = startedAt
  }

  static readonly make: Effect.Effect<Progress> = Effect.map(Clock.currentTimeMillis, (now) => new Progress(now))

  /** A line that stays. */
  readonly say = (text: string): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      this.#clear()
      process.stdout.write(`${this.#time(now)}  ${text}\n`)
      this.#lastAt = now
    })

  /** How far it is. */
  readonly show = (text: string): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!this.#terminal && now - this.#lastAt < spacingMillis) return
      this.#lastAt = now
      this.#clear()
      const line = `${this.#time(now)}  ${text}`
      this.#live = this.#terminal
      process.stdout.write(this.#terminal ? line.slice(0, (process.stdout.columns || unknownWidth) - 1) : `${line}\n`)
    })

  /** Lines without a time. */
  readonly print = (text: string): Effect.Effect<void> =>
    Effect.sync(() => {
      this.#clear()
      process.stdout.write(`${text}\n`)
    })

  #time(now: number): string {
    return `${((now - this.#startedAt) / 1000).toFixed(1).padStart(5)} s`
  }

  #clear(): void {
    if (this.#live) process.stdout.write("\r\u001b[2K")
    this.#live = false
  }
}
