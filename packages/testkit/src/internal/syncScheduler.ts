/**
 * A scheduler with one run queue for all its fibers: nothing runs until `flush`, and then on the caller's stack.
 *
 * Effect's own `runSync` drains the queue of the root fiber only, so a child that yields looks like one that blocks. With
 * one queue it does not. Tasks are never run from inside `scheduleTask`: that would enter a fiber that is running.
 */
import type * as Scheduler from "effect/Scheduler"
import { fifo, type TaskQueue } from "./taskQueue.ts"

/** How many tasks one flush runs before it takes them for fibers that hand over to each other for ever. */
const maxTasks = 10_000_000

/** Options of the scheduler. */
export interface Options {
  /** Left out: first in, first out. */
  readonly queue?: TaskQueue | undefined
  /** Told when there is work and nobody flushes; has to see to a flush. */
  readonly onWork?: (() => void) | undefined
}

/** The scheduler. */
export class SyncScheduler implements Scheduler.Scheduler {
  readonly executionMode = "sync"
  readonly #queue: TaskQueue
  readonly #dispatcher: Scheduler.SchedulerDispatcher
  #flushing = 0
  #told = false

  constructor({ onWork, queue = fifo() }: Options = {}) {
    this.#queue = queue
    this.#dispatcher = {
      scheduleTask: (run, priority) => {
        queue.push(run, priority)
        if (this.#flushing > 0 || this.#told || onWork === undefined) return
        this.#told = true
        onWork()
      },
      flush: () => this.flush()
    }
  }

  /** Never: a fiber runs until it waits for something. */
  shouldYield(): boolean {
    return false
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return this.#dispatcher
  }

  /** Runs until the queue is empty. May be called from inside a task: it goes on with the same queue. */
  flush(): void {
    this.#told = false
    this.#flushing++
    try {
      let ran = 0
      for (let task = this.#queue.next(); task !== undefined; task = this.#queue.next()) {
        if (ran++ >= maxTasks) {
          throw new Error(`stopped after ${maxTasks} turns: fibers hand over to each other for ever`)
        }
        task()
      }
    } finally {
      this.#flushing--
    }
  }
}
