import { describe, it } from "@effect/vitest"
import { Middleware, OffsetStore, TopicLog } from "@kelpie/core"
import { RecordsWithOffsetsContract } from "@kelpie/testkit"
import { Effect, Layer } from "effect"
import { breaks, keeps, surviving } from "./brokenLaws.ts"

const memory = Layer.merge(TopicLog.layerMemory, OffsetStore.layerMemory)
/** Changes how a writer appends records with offsets. */
const appending = (change: (append: TopicLog.Writer["append"]) => TopicLog.Writer["append"]) =>
  RecordsWithOffsetsContract(
    Effect.map(surviving(memory), (below) =>
      Middleware.decorate(TopicLog, (log) => ({
        open: (item, run) => Effect.map(log.open(item, run), ({ append }) => ({ append: change(append) }))
      })).pipe(Layer.provideMerge(below))),
    { oneEngine: false }
  )

describe("RecordsWithOffsetsContract", () => {
  it("is kept by the stores in memory, which are two engines", () => keeps(appending((append) => append)))

  it("finds that two engines have no common transaction", () =>
    breaks(RecordsWithOffsetsContract(surviving(memory)), "both are one transaction"))

  it("finds a log that forgets the offsets", () =>
    breaks(appending((append) => (appends) => append(appends)), "stores the offsets with the records"))

  it("finds a log that stores offsets first", () =>
    breaks(
      appending((append) => (appends, offsets) => Effect.andThen(offsets?.commit ?? Effect.void, append(appends))),
      "stores no offset when only the log has fenced the run"
    ))

  it("finds a log that loses records whose offsets it stored", () =>
    breaks(
      appending((append) => (appends, offsets) => append(offsets === undefined ? appends : [], offsets)),
      "stores the offsets with the records",
      "has both after it is opened again"
    ))
})
