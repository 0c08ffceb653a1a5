/** The worker thread of `data.db`: statuses, offsets, topics. */
import type { DataCalls } from "../calls.ts"
import { data } from "./dataSchema.ts"
import { floors } from "./floors.ts"
import { offsets } from "./offsets.ts"
import { openDatabase } from "./openDatabase.ts"
import { sweeper } from "./retention.ts"
import { type Engine, serve } from "./serve.ts"
import { statuses } from "./statuses.ts"
import { topicList, topics } from "./topics.ts"

serve<DataCalls>(data.name, (opening): Engine<DataCalls> => {
  const open = openDatabase(data, opening, { drawn: false, prepare: () => {} })
  const { database } = open
  const guard = floors(database)
  const list = topicList(database)
  const { store, ...offsetCalls } = offsets(database, guard)
  const { append, ...topicCalls } = topics(database, list, guard, store)
  const sweep = sweeper(database, opening.retention, opening.nowMillis)
  const dataVersion = database.prepare("PRAGMA data_version")
  const version = () => Number(dataVersion.get()?.data_version)
  let seen = version()
  return {
    ...open,
    news: list.news,
    tidy: sweep.sweep,
    handlers: {
      ...statuses(database),
      ...offsetCalls,
      ...topicCalls,
      append: {
        ...append,
        run: (request) => {
          sweep.at(request.nowMillis)
          return append.run(request)
        }
      },
      flush: { kind: "read", run: () => null },
      raise: {
        kind: "write",
        run: ({ of, runs, strict }) => {
          for (const run of runs) {
            if (strict) guard.raise(of, run)
            else guard.fence(of, run)
          }
          return null
        }
      },
      look: {
        kind: "read",
        run: () => {
          const now = version()
          const changed = now !== seen
          seen = now
          if (changed) list.reload()
          return changed
        }
      }
    }
  }
})
