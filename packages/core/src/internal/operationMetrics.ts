/** The metrics of operations. Their values live in the registry of the fiber that updates them, not here. */
import * as Metric from "effect/Metric"
import type * as Operation from "../Operation.ts"
import type { Outcome } from "./circuitBreaker.ts"

const operations = Metric.counter("kelpie_operations_total", {
  description: "Operations by name and outcome",
  incremental: true
})
const seconds = Metric.histogram("kelpie_operation_seconds", {
  description: "How long operations took that ended by themselves, in seconds",
  boundaries: Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 16 })
})

/** The series of one operation. */
export interface Series {
  readonly seconds: Metric.Metric<number, Metric.HistogramState>
  readonly count: Readonly<Record<Outcome, Metric.Counter<number>>>
}

const known = new Map<Operation.Tag, Series>()

/** The series of an operation; made once, for each `withAttributes` builds a key. */
export const series = (operation: Operation.Tag): Series => {
  const found = known.get(operation)
  if (found !== undefined) return found
  const count = (outcome: Outcome) => Metric.withAttributes(operations, { operation, outcome })
  const made: Series = {
    seconds: Metric.withAttributes(seconds, { operation }),
    count: { success: count("success"), failure: count("failure"), interrupted: count("interrupted") }
  }
  known.set(operation, made)
  return made
}
