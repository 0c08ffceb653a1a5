import { describe, it } from "@effect/vitest"
import { MembershipPolicy, MemoryGroup } from "@kelpie/core"
import { MembershipContract } from "@kelpie/testkit"
import { Effect, Layer } from "effect"
import { keeps } from "./brokenLaws.ts"

/** Short leases: the laws run on the real clock. */
const quick = MembershipPolicy.layer({ lease: "300 millis", renewal: "60 millis", margin: "30 millis" })

describe("a group in memory", () => {
  it("keeps the laws of a membership", () =>
    keeps(MembershipContract(
      Effect.map(MemoryGroup.make, (group) => {
        let workers = 0
        return Layer.unwrap(Effect.sync(() => group.layer({ workerId: `worker-${++workers}:8083` }))).pipe(
          Layer.provide(quick)
        )
      }),
      { durable: false }
    )))
})
