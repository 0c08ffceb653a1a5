import { SinkContract, SourceContract } from "@kelpie/testkit"
import { describeContract, nodeHandles } from "@kelpie/testkit/vitest"
import { Effect } from "effect"
import { ArchiveSink } from "../src/ArchiveSink.ts"
import { FeedSource } from "../src/FeedSource.ts"
import * as Fakes from "./Fakes.ts"

describeContract(
  "FeedSource",
  SourceContract(FeedSource, {
    world: Fakes.fakes,
    services: Fakes.layer,
    config: () => FeedSource.config({ url: Fakes.url, token: Fakes.token, batchSize: 2, pollInterval: "10 millis" }),
    produce: Fakes.publish,
    outage: Fakes.feedDown,
    handles: nodeHandles
  })
)

describeContract(
  "ArchiveSink",
  SinkContract(ArchiveSink, {
    world: Fakes.fakes,
    services: Fakes.layer,
    config: () => ArchiveSink.config({ folder: "news" }, {}),
    value: (id) => ({ id, title: `entry ${id}` }),
    read: ({ documents }) => Effect.sync(() => Array.from(documents.values(), ({ id }) => id)),
    once: true,
    badValue: { id: 0, title: "" },
    outage: Fakes.archiveDown,
    handles: nodeHandles
  })
)
