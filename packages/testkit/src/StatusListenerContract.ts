/**
 * What whoever tells status listeners has to keep: a runtime, or a host that passes events on. The thing under test is a
 * function that takes listeners and gives the function that tells an event.
 */
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import type { StatusListener } from "@kelpie/core/StatusListener"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Contract from "./Contract.ts"
import { equal } from "./internal/check.ts"
import { untilTrue } from "./internal/untilTrue.ts"

/** Tells listeners until the scope is closed. */
export type Teller = (
  listeners: ReadonlyArray<StatusListener>
) => Effect.Effect<(event: HerderEvent) => Effect.Effect<void>, unknown, Scope.Scope>

const event = (n: number): HerderEvent => ({
  _tag: "StatusChanged",
  at: n,
  connector: `c${n}`,
  task: n,
  from: "UNASSIGNED",
  to: "RUNNING"
})
const events = Array.from({ length: 20 }, (_, n) => event(n))

/** A listener that remembers, and what it was told. */
const remembering = (also: (event: HerderEvent) => Effect.Effect<void, unknown> = () => Effect.void) => {
  const told: Array<HerderEvent> = []
  const listener: StatusListener = (event) => Effect.andThen(Effect.sync(() => told.push(event)), also(event))
  return { listener, told, all: untilTrue("every event was told", Effect.sync(() => told.length >= events.length)) }
}

/** The laws of whoever tells listeners. */
export const StatusListenerContract = (
  teller: Teller,
  options: Pick<Contract.Options, "limit"> = {}
): ReadonlyArray<Contract.Law> => {
  const law = (name: string, body: () => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    Contract.law(name, Effect.suspend(body), options)
  return [
    law("tells every listener every event, as it is and in order", () =>
      Effect.gen(function*() {
        const [one, other] = [remembering(), remembering()]
        const tell = yield* teller([one.listener, other.listener])
        yield* Effect.forEach(events, tell)
        for (const { all, told } of [one, other]) {
          yield* all
          yield* equal("what it was told", told, events)
        }
      })),

    law("tells a listener one event after the other", () =>
      Effect.gen(function*() {
        let under = 0
        let most = 0
        const slow = remembering(() =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              most = Math.max(most, ++under)
            }),
            () => Effect.sleep(1),
            () =>
              Effect.sync(() => {
                under--
              })
          )
        )
        const tell = yield* teller([slow.listener])
        yield* Effect.forEach(events, tell)
        yield* slow.all
        yield* equal("how many events it was told at the same time", most, 1)
        yield* equal("what it was told", slow.told, events)
      })),

    law("goes on telling a listener that failed or died", () =>
      Effect.gen(function*() {
        const failing = remembering(({ at }) => at % 2 === 0 ? Effect.fail("down") : Effect.die(new Error("a bug")))
        const throwing: StatusListener = () => {
          throw new Error("a bug")
        }
        const tell = yield* teller([throwing, failing.listener])
        yield* Effect.forEach(events, tell)
        yield* failing.all
        yield* equal("what it was told", failing.told, events)
      })),

    law("harms nobody when a listener hangs", () =>
      Effect.gen(function*() {
        const [hanging, other] = [remembering(() => Effect.never), remembering()]
        const tell = yield* teller([hanging.listener, other.listener])
        yield* Effect.forEach(events, tell)
        yield* other.all
        yield* equal("what the other was told", other.told, events)
      })),

    law("ends a listener that hangs when its scope is closed", () =>
      Effect.gen(function*() {
        let ended = false
        const hanging = remembering(() =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              ended = true
            }))
        )
        const scope = yield* Scope.make()
        const tell = yield* Scope.provide(teller([hanging.listener]), scope)
        yield* tell(event(0))
        yield* untilTrue("it was told", Effect.sync(() => hanging.told.length === 1))
        yield* Scope.close(scope, Exit.void)
        yield* equal("whether it was interrupted", ended, true)
      })),

    law("needs no listener", () =>
      Effect.gen(function*() {
        const tell = yield* teller([])
        yield* Effect.forEach(events, tell)
      }))
  ]
}
