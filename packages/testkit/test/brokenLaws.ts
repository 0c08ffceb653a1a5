import { assert } from "@effect/vitest"
import { Contract, TestRuntime } from "@kelpie/testkit"
import { Effect, Layer } from "effect"

/** The broken laws of something that lives in memory: on the caller's stack, in virtual time. */
const broken = (laws: ReadonlyArray<Contract.Law>): ReadonlyArray<Contract.Broken> =>
  TestRuntime.runSync(Contract.broken(laws), { advance: "1 hour" })

/** No law is broken, and there are some. */
export const keeps = (laws: ReadonlyArray<Contract.Law>): void => {
  assert.isAbove(laws.length, 0)
  assert.strictEqual(new Set(laws.map(({ name }) => name)).size, laws.length)
  assert.deepStrictEqual(broken(laws).map(({ law, message }) => `${law}: ${message}`), [])
}

/** At least these laws are broken. A part of a law's name is enough. */
export const breaks = (laws: ReadonlyArray<Contract.Law>, ...names: ReadonlyArray<string>): void => {
  const all = broken(laws).map(({ law }) => law)
  for (const name of names) {
    assert.isTrue(laws.some((law) => law.name.includes(name)), `there is no law "${name}"`)
    assert.isTrue(all.some((law) => law.includes(name)), `"${name}" is kept; broken: ${all.join(" | ") || "none"}`)
  }
}

/** A world whose data outlives its layers: every build gives the one service of that world. */
export const surviving = <I>(layer: Layer.Layer<I>) =>
  Effect.map(Layer.build(layer), (context) => Layer.succeedContext(context))

/** A layer that leaves a fiber running. */
export const leaking = <I>(layer: Layer.Layer<I>): Layer.Layer<I> =>
  Layer.merge(layer, Layer.effectDiscard(Effect.forkDetach(Effect.forever(Effect.sleep("1 second")))))
