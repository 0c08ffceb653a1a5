/** The jobs that have not ended, for whoever has to say what a run waits for. */
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"

/** One life of a job. */
export interface PendingJob {
  readonly label: string
}

/** Where executors note their jobs. Whoever wants to know provides a set: by default nobody does. */
export const PendingJobs: Context.Reference<Set<PendingJob> | undefined> = Context.Reference<
  Set<PendingJob> | undefined
>("@kelpie/testkit/PendingJobs", { defaultValue: () => undefined })

/** Notes a job until its fiber ends. */
export const note = (jobs: Set<PendingJob> | undefined, label: string, fiber: Fiber.Fiber<void>): void => {
  if (jobs === undefined || fiber.pollUnsafe() !== undefined) return
  const job = { label }
  jobs.add(job)
  fiber.addObserver(() => jobs.delete(job))
}
