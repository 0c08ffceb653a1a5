/** Saves entries in an archive, which takes a document again without harm. */
import {
  ConfigKey,
  type ConnectorError,
  PermanentError,
  SinkConnector,
  type SinkRecord,
  TransientError
} from "@kelpie/core"
import { Context, Effect, Schema } from "effect"
import { Entry } from "./Feed.ts"

/** A document; one with a key that is there already replaces it. */
export interface Document {
  readonly key: string
  readonly entry: Entry
}

/** The archive did not answer. */
export class ArchiveDown extends Schema.TaggedError<ArchiveDown>()("ArchiveDown", {}) {}

/** The service of the host. */
export class Archive extends Context.Service<Archive, {
  /** Saves all that it takes; gives the keys of those that it refuses. */
  readonly save: (
    folder: string,
    documents: ReadonlyArray<Document>
  ) => Effect.Effect<ReadonlyArray<string>, ArchiveDown>
}>()("example/Archive") {}

/** The place of a record in its topic never changes, so a record that comes again is the same document. */
const keyOf = ({ offset, originalTopic, partition }: SinkRecord): string => `${originalTopic}-${partition}-${offset}`

/** Saves each batch with one request. A record that the archive refuses is given up alone. */
export const ArchiveSink = SinkConnector.make("ArchiveSink", {
  version: "1.0.0",
  doc: "Saves entries in an archive.",
  config: {
    folder: ConfigKey.String("archive.folder", { doc: "Folder of the archive that the entries are saved in." })
  },
  value: Entry,
  task: Effect.fnUntraced(function*({ config, report }) {
    const archive = yield* Archive
    return {
      put: Effect.fnUntraced(
        function*(records: ReadonlyArray<SinkRecord<Entry>>): Effect.fn.Return<void, ConnectorError> {
          if (records.length === 0) return
          const documents = records.map((record) => ({ key: keyOf(record), entry: record.value }))
          const refused = new Set(
            yield* Effect.mapError(
              archive.save(config.folder, documents),
              () => new TransientError({ message: "the archive does not answer" })
            )
          )
          for (const record of records) {
            if (refused.has(keyOf(record))) {
              yield* report(record, new PermanentError({ message: "the archive refuses an entry without a title" }))
            }
          }
        }
      )
    }
  })
})
