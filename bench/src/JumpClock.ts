/**
 * A clock that stands still until it is moved: a jump moves it forward, and whoever slept until a moment before the new
 * one wakes at once. From `start` on it runs as time does.
 */
import { Clock, Duration, Effect, Layer } from "effect"

interface Sleeper {
  readonly until: number
  readonly wake: () => void
  timer: NodeJS.Timeout | undefined
}

/** The longest delay of one timer. */
const longest = 2 ** 31 - 1

/** A clock that can be moved forward. */
export class JumpClock implements Clock.Clock {
  /** The time while it stands; what it is ahead of the real one while it runs. */
  #at = performance.timeOrigin
  #runs = false
  readonly #sleepers = new Set<Sleeper>()

  #wait(sleeper: Sleeper): void {
    const left = sleeper.until - this.now()
    if (left <= 0) {
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    } else if (this.#runs) sleeper.timer = setTimeout(() => this.#wait(sleeper), Math.min(Math.ceil(left), longest))
  }

  /** Milliseconds. */
  now(): number {
    return this.#runs ? performance.now() + this.#at : this.#at
  }

  /** Moves the clock forward; the first to sleep until a moment wakes first. */
  jump(millis: number): void {
    this.#at += millis
    for (const sleeper of [...this.#sleepers].sort((a, b) => a.until - b.until)) {
      clearTimeout(sleeper.timer)
      this.#wait(sleeper)
    }
  }

  /** Lets it run. */
  start(): void {
    if (this.#runs) return
    this.#at -= performance.now()
    this.#runs = true
    this.jump(0)
  }

  /** Lets it stand. */
  stop(): void {
    if (!this.#runs) return
    this.#at += performance.now()
    this.#runs = false
    for (const { timer } of this.#sleepers) clearTimeout(timer)
  }

  currentTimeMillisUnsafe(): number {
    return Math.floor(this.now())
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.now() * 1e6))
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }
  readonly monotonicTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis <= 0) return Effect.yieldNow
    if (!Number.isFinite(millis)) return Effect.never
    return Effect.callback((resume) => {
      const sleeper: Sleeper = { until: this.now() + millis, wake: () => resume(Effect.void), timer: undefined }
      this.#sleepers.add(sleeper)
      this.#wait(sleeper)
      return Effect.sync(() => {
        clearTimeout(sleeper.timer)
        this.#sleepers.delete(sleeper)
      })
    })
  }

  /** The clock of a program. */
  get layer(): Layer.Layer<never> {
    return Layer.succeed(Clock.Clock, this)
  }
}
