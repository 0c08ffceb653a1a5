import { Sqlite, SqliteConfigStore, SqliteOffsetStore, SqliteStatusStore, SqliteTopicLog } from "@kelpie/sqlite"
import {
  ConfigStoreContract,
  type Contract,
  OffsetStoreContract,
  StatusStoreContract,
  TopicLogContract
} from "@kelpie/testkit"
import { describeContract } from "@kelpie/testkit/vitest"
import { Effect } from "effect"
import * as Fixtures from "./fixtures.ts"

/** A layer over a fresh directory; every build of it opens the same files. */
const over = <L>(layer: (options: Sqlite.Options) => L) =>
  Effect.map(Fixtures.temporary, (directory) => layer({ directory }))
const patient: Contract.Options = { limit: Fixtures.patience }

describeContract("Sqlite: ConfigStore", ConfigStoreContract(over(Sqlite.layer), patient))
describeContract("Sqlite: StatusStore", StatusStoreContract(over(Sqlite.layer), patient))
describeContract("Sqlite: OffsetStore", OffsetStoreContract(over(Sqlite.layer), patient))
describeContract("Sqlite: TopicLog", TopicLogContract(over(Sqlite.layer), patient))
describeContract("SqliteConfigStore", ConfigStoreContract(over(SqliteConfigStore.layer), patient))
describeContract("SqliteStatusStore", StatusStoreContract(over(SqliteStatusStore.layer), patient))
describeContract("SqliteOffsetStore", OffsetStoreContract(over(SqliteOffsetStore.layer), patient))
describeContract("SqliteTopicLog", TopicLogContract(over(SqliteTopicLog.layer), patient))
