/** The run queues of the synchronous scheduler. */

/** A queue of tasks. */
export interface TaskQueue {
  readonly push: (run: () => void, priority: number) => void
  /** Takes the next task. */
  readonly next: () => (() => void) | undefined
}

/** Chooses one of `count` tasks; they stand in the order in which they were scheduled. */
export type Choose = (count: number) => number

interface Lane {
  readonly priority: number
  tasks: Array<() => void>
  /** Place of the next task: taking from the front of an array costs its length. */
  head: number
}

/** Lowest priority number first, and first in, first out within it. */
export const fifo = (): TaskQueue => {
  const lanes: Array<Lane> = []
  const laneOf = (priority: number): Lane => {
    let place = 0
    for (; place < lanes.length; place++) {
      const lane = lanes[place]
      if (lane === undefined || lane.priority > priority) break
      if (lane.priority === priority) return lane
    }
    const lane: Lane = { priority, tasks: [], head: 0 }
    lanes.splice(place, 0, lane)
    return lane
  }
  return {
    push: (run, priority) => void laneOf(priority).tasks.push(run),
    next: () => {
      for (const lane of lanes) {
        const task = lane.tasks[lane.head]
        if (task === undefined) continue
        lane.head++
        if (lane.head === lane.tasks.length) {
          lane.tasks = []
          lane.head = 0
        }
        return task
      }
      return undefined
    }
  }
}

/** Any task may be the next one; priorities do not count. */
export const drawn = (choose: Choose): TaskQueue => {
  const tasks: Array<() => void> = []
  return {
    push: (run) => void tasks.push(run),
    next: () => tasks.splice(choose(tasks.length), 1)[0]
  }
}
