/**
 * Circuit breakers by key, as plain state: who may pass now, and what an outcome changes. Times are milliseconds of one
 * monotonic clock.
 *
 * An outcome counts only in the era that let its operation through, so what was under way when a circuit opened or closed
 * changes nothing any more.
 */

/** How an operation ended; an interrupted one says nothing about the other side. */
export type Outcome = "success" | "failure" | "interrupted"

/** The answer to who wants to pass. `waitMillis` is `undefined` while the one that tries the other side is under way. */
export type Admission =
  | { readonly _tag: "Pass"; readonly era: number }
  | { readonly _tag: "Refuse"; readonly waitMillis: number | undefined }

/** The circuits of one middleware. */
export interface Circuits {
  readonly admit: (key: string, nowMillis: number) => Admission
  readonly settle: (key: string, era: number, outcome: Outcome, nowMillis: number) => void
}

type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly untilMillis: number }
  /** One is let through to see. */
  | { readonly _tag: "HalfOpen" }

interface Circuit {
  readonly state: State
  readonly era: number
}

/** How many keys are remembered; the one that changed longest ago is forgotten first, which closes it. */
const rememberedKeys = 10_000

const fresh: Circuit = { state: { _tag: "Closed", failures: 0 }, era: 0 }

/** All circuits closed; one opens after so many failures in a row, for the cooldown. */
export const make = (failures: number, cooldownMillis: number): Circuits => {
  const circuits = new Map<string, Circuit>()
  const set = (key: string, circuit: Circuit) => {
    circuits.delete(key) // a map keeps the order of insertion: the last change stands last
    circuits.set(key, circuit)
    if (circuits.size <= rememberedKeys) return
    const oldest = circuits.keys().next()
    if (oldest.done !== true) circuits.delete(oldest.value)
  }
  const open = (nowMillis: number): State => ({ _tag: "Open", untilMillis: nowMillis + cooldownMillis })

  const afterClosed = (count: number, outcome: Outcome, nowMillis: number): State | undefined => {
    if (outcome === "interrupted" || (outcome === "success" && count === 0)) return undefined
    if (outcome === "success") return fresh.state
    return count + 1 >= failures ? open(nowMillis) : { _tag: "Closed", failures: count + 1 }
  }
  const afterHalfOpen = (outcome: Outcome, nowMillis: number): State => {
    if (outcome === "interrupted") return { _tag: "Open", untilMillis: nowMillis } // the next one tries
    return outcome === "success" ? fresh.state : open(nowMillis)
  }
  return {
    admit: (key, nowMillis) => {
      const { era, state } = circuits.get(key) ?? fresh
      if (state._tag === "Closed") return { _tag: "Pass", era }
      if (state._tag === "HalfOpen") return { _tag: "Refuse", waitMillis: undefined }
      if (nowMillis < state.untilMillis) return { _tag: "Refuse", waitMillis: state.untilMillis - nowMillis }
      set(key, { state: { _tag: "HalfOpen" }, era: era + 1 })
      return { _tag: "Pass", era: era + 1 }
    },
    settle: (key, era, outcome, nowMillis) => {
      const circuit = circuits.get(key) ?? fresh
      if (circuit.era !== era || circuit.state._tag === "Open") return
      const next = circuit.state._tag === "Closed"
        ? afterClosed(circuit.state.failures, outcome, nowMillis)
        : afterHalfOpen(outcome, nowMillis)
      if (next === undefined) return
      set(key, { state: next, era: next._tag === circuit.state._tag ? era : era + 1 })
    }
  }
}
