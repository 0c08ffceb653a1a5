/** What every executor has to keep. */
import type * as Executor from "@kelpie/core/Executor"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"

/** An executor under test. */
export interface ExecutorWorld {
  readonly make: Executor.Make
  /** Lets submitted jobs run, where they do not by themselves. */
  readonly settle?: Effect.Effect<void> | undefined
}

const lines = () => {
  const log: Array<string> = []
  return { log, say: (line: string) => Effect.sync(() => void log.push(line)) }
}

/** The laws of an executor. The world is run anew for each. */
export const ExecutorContract = (
  world: Effect.Effect<ExecutorWorld, unknown, Scope.Scope>,
  options: Pick<Contract.Options, "limit"> = {}
): ReadonlyArray<Contract.Law> => {
  const law = (
    name: string,
    body: (world: Required<ExecutorWorld> & { readonly settle: Effect.Effect<void> }) => Effect.Effect<
      unknown,
      unknown,
      Scope.Scope
    >
  ) => Contract.law(name, Effect.flatMap(world, ({ make, settle = Effect.void }) => body({ make, settle })), options)
  return [
    law("runs a job to its end, once", ({ make, settle }) =>
      Effect.gen(function*() {
        const { log, say } = lines()
        const executor = yield* make
        const run = Effect.andThen(say("start"), Effect.andThen(Effect.yieldNow, say("end")))
        const fiber = yield* executor.submit({ label: "job", run })
        yield* settle
        yield* equal("how it ended", (yield* Fiber.await(fiber))._tag, "Success")
        yield* equal("what it did", log, ["start", "end"])
      })),

    law(
      "does not wait for a job: one that hangs holds up neither its submitter nor others",
      ({ make, settle }) =>
        Effect.gen(function*() {
          const executor = yield* make
          yield* executor.submit({ label: "hangs", run: Effect.never })
          yield* executor.submit({ label: "hangs too", run: Effect.uninterruptible(Effect.sleep("1 millis")) })
          const done = yield* Deferred.make<void>()
          yield* executor.submit({ label: "ends", run: Effect.asVoid(Deferred.succeed(done, undefined)) })
          yield* settle
          yield* Deferred.await(done)
        })
    ),

    law("lets jobs wait for each other", ({ make, settle }) =>
      Effect.gen(function*() {
        const executor = yield* make
        const gate = yield* Deferred.make<number>()
        const answer = yield* Deferred.make<number>()
        const waits = Effect.flatMap(Deferred.await(gate), (n) => Deferred.succeed(answer, n + 1))
        yield* executor.submit({ label: "waits", run: Effect.asVoid(waits) })
        yield* executor.submit({ label: "opens", run: Effect.asVoid(Deferred.succeed(gate, 1)) })
        yield* settle
        yield* equal("the answer", yield* Deferred.await(answer), 2)
      })),

    law("takes jobs from jobs", ({ make, settle }) =>
      Effect.gen(function*() {
        const executor = yield* make
        const done = yield* Deferred.make<void>()
        const inner = executor.submit({ label: "inner", run: Effect.asVoid(Deferred.succeed(done, undefined)) })
        yield* executor.submit({ label: "outer", run: Effect.asVoid(inner) })
        yield* settle
        yield* Deferred.await(done)
      })),

    law(
      "gives the fiber of the job: interrupting it ends the job, with what it has to clean up",
      ({ make, settle }) =>
        Effect.gen(function*() {
          const { log, say } = lines()
          const executor = yield* make
          const started = yield* Deferred.make<void>()
          const hangs = Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
          const cleanUp = Effect.andThen(Effect.yieldNow, say("cleaned up"))
          const fiber = yield* executor.submit({ label: "hangs", run: Effect.ensuring(hangs, cleanUp) })
          yield* settle
          yield* Deferred.await(started)
          yield* Fiber.interrupt(fiber)
          yield* equal("what it did", log, ["cleaned up"])
          const exit = yield* Fiber.await(fiber)
          yield* isTrue("it ended by interruption", Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
        })
    ),

    law("keeps a job that dies to itself; its fiber tells", ({ make, settle }) =>
      Effect.gen(function*() {
        const executor = yield* make
        const fiber = yield* executor.submit({ label: "dies", run: Effect.die(new Error("a bug")) })
        const done = yield* Deferred.make<void>()
        yield* executor.submit({ label: "ends", run: Effect.asVoid(Deferred.succeed(done, undefined)) })
        yield* settle
        yield* Deferred.await(done)
        const exit = yield* Fiber.await(fiber)
        yield* isTrue("its fiber died", Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      })),

    law("ends every job when its scope is closed, and waits for them", ({ make, settle }) =>
      Effect.gen(function*() {
        const { log, say } = lines()
        const scope = yield* Scope.make()
        const executor = yield* Scope.provide(make, scope)
        const cleanUp = Effect.andThen(Effect.yieldNow, say("cleaned up"))
        const started = yield* Effect.forEach([1, 2, 3], (n) =>
          Effect.gen(function*() {
            const here = yield* Deferred.make<void>()
            const hangs = Effect.andThen(Deferred.succeed(here, undefined), Effect.never)
            yield* executor.submit({ label: `${n}`, run: Effect.ensuring(hangs, cleanUp) })
            return here
          }))
        yield* settle
        yield* Effect.forEach(started, Deferred.await)
        yield* Scope.close(scope, Exit.void)
        yield* equal("what they did", log, ["cleaned up", "cleaned up", "cleaned up"])
        yield* executor.submit({ label: "late", run: say("late") })
        yield* settle
        yield* Effect.yieldNow
        yield* equal("what they did after the end", log.length, 3)
      })),

    law("belongs to one runtime: each has an executor of its own", ({ make, settle }) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const [one, other] = [yield* Scope.provide(make, scope), yield* make]
        const done = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        yield* one.submit({ label: "one", run: Effect.never })
        const waits = Effect.andThen(Deferred.await(gate), Deferred.succeed(done, undefined))
        yield* other.submit({ label: "other", run: Effect.asVoid(waits) })
        yield* settle
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.succeed(gate, undefined)
        yield* Deferred.await(done)
      }))
  ]
}
