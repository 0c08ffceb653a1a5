/**
 * What the main thread and the worker threads say to each other: whole operations, never single statements, so that one
 * message is one transaction. Types only.
 */
import type { Failure } from "./failure.ts"

/** One operation: what is asked and what is answered. */
export interface Call<Request, Answer> {
  readonly request: Request
  readonly answer: Answer
}
/** The operations of one worker. */
export type Calls<C> = { readonly [K in keyof C]: Call<unknown, unknown> }

/** A question. */
export interface Message {
  readonly id: number
  readonly name: string
  readonly request: unknown
}
/** An answer to the question of that id. */
export type Reply =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  | { readonly id: number; readonly ok: false; readonly failure: Failure }
/** What a worker posts: everything that one transaction answered, and news that nobody asked for before it. */
export interface Outcome {
  readonly news: unknown
  readonly replies: ReadonlyArray<Reply>
}

/** How a file is opened. */
export interface Opening {
  readonly directory: string
  readonly synchronous: "full" | "normal"
  readonly busyTimeoutMillis: number
  readonly nowMillis: number
  /** The most pages that the file may have: stands for a full disk in tests. */
  readonly maxPages: number | undefined
  /** The cluster that the file has to belong to. */
  readonly clusterId: string | undefined
  /** The directory's id, which its files share. For a new file it becomes the file's; `undefined`: not known here. */
  readonly storeId: string | undefined
}
/** What an opened file says about itself. */
export interface Opened {
  readonly storeId: string | undefined
  readonly clusterId: string | undefined
}

/** A record of the config log. */
export interface LogEntry {
  readonly key: string
  readonly value: string | null
}

/** A session that has not ended. */
export interface StoredSession {
  readonly session: string
  /** JSON of what the worker tells of itself. */
  readonly worker: string
  readonly counter: number
  readonly draining: boolean
}

/** A key for requests between workers. */
export interface StoredKey {
  readonly id: string
  readonly secret: string
  readonly createdAt: number
}

/** The worker of `control.db`. */
export interface ControlCalls {
  readonly open: Call<Opening, Opened>
  readonly close: Call<null, null>
  readonly claim: Call<null, number>
  readonly append: Call<
    { readonly claim: number; readonly entries: ReadonlyArray<LogEntry>; readonly nowMillis: number },
    ReadonlyArray<number>
  >
  /** At most so many records after a position. */
  readonly read: Call<
    { readonly after: number; readonly limit: number },
    ReadonlyArray<LogEntry & { readonly position: number }>
  >
  /** Whether another process wrote since the last look. */
  readonly look: Call<null, boolean>
  readonly lock: Call<{ readonly nowMillis: number }, null>
  readonly unlock: Call<null, null>

  readonly joinGroup: Call<{ readonly session: string; readonly workerId: string; readonly worker: string }, null>
  /** Whether the session has not ended. */
  readonly renewSession: Call<{ readonly session: string }, boolean>
  /** Ends it if its counter has not moved. */
  readonly endSession: Call<{ readonly session: string; readonly counter: number }, null>
  readonly leaveGroup: Call<{ readonly session: string }, null>
  readonly drainSession: Call<{ readonly session: string }, null>
  /** In the order in which they joined. */
  readonly sessions: Call<null, ReadonlyArray<StoredSession>>
  /** Whether the session's process is gone for certain. */
  readonly isGone: Call<{ readonly session: string }, boolean>

  /** In the order in which they were added. */
  readonly loadKeys: Call<null, ReadonlyArray<StoredKey>>
  /** Adds a key if the newest one has that id; tells whether it did. */
  readonly addKey: Call<{ readonly key: StoredKey; readonly after: string | undefined }, boolean>
  readonly dropKeys: Call<{ readonly before: number }, null>
}

/** An item by its key, with a run of it. */
export interface ItemRun {
  readonly item: string
  readonly token: number
  readonly start: number
}
/** Offsets of one connector. */
export interface StoredOffsets extends ItemRun {
  readonly connector: string
  readonly entries: ReadonlyArray<{ readonly partition: string; readonly offset: string | null }>
}
/** Whom an alteration fences: all runs of a connector's items, of owners up to a position. */
export interface FencedConnector {
  readonly connector: string
  readonly position: number
}
/** A topic as `data.db` keeps it. */
export interface StoredTopic {
  readonly id: number
  readonly name: string
  readonly partitions: number
}
/** Records of one partition, encoded (`recordBatch.ts`). */
export interface EncodedBatch {
  readonly topic: string
  readonly partition: number
  readonly count: number
  readonly maxTimestampMillis: number
  readonly data: Uint8Array
}
/** Where a reader stands in a partition. */
export interface ReadFrom {
  readonly topic: number
  readonly partition: number
  readonly offset: number
}
/** A stored batch that a reader gets: `from` is the place in its list, `endOffset` the offset after the last record. */
export interface ReadBatch {
  readonly from: number
  readonly endOffset: number
  readonly count: number
  readonly data: Uint8Array
}
/** Which store's floors: an item has one in each. */
export type FloorOf = "offsets" | "topics"
/** A position of a group. */
export interface StoredPosition {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** The worker of `data.db`. */
export interface DataCalls {
  readonly open: Call<Opening & { readonly retention: Retention }, Opened>
  readonly close: Call<null, null>
  /** Whether another process wrote since the last look. */
  readonly look: Call<null, boolean>
  /** Answered when everything that was asked before is over. */
  readonly flush: Call<null, null>
  /** Raises floors; those that a newer run stands above are kept. `strict`: then it is `Fenced`, without effect. */
  readonly raise: Call<{ readonly of: FloorOf; readonly runs: ReadonlyArray<ItemRun>; readonly strict: boolean }, null>

  readonly putStatuses: Call<
    {
      readonly writer: string
      readonly records: ReadonlyArray<{ readonly item: string; readonly token: number; readonly json: string }>
    },
    null
  >
  readonly removeStatuses: Call<{ readonly items: ReadonlyArray<string> }, null>
  readonly loadStatuses: Call<null, ReadonlyArray<string>>
  /** Statuses that others than `writer` stored after a sequence number; `undefined`: from now on. */
  readonly statusesAfter: Call<
    { readonly writer: string; readonly after: number | undefined },
    { readonly last: number; readonly records: ReadonlyArray<string> }
  >

  readonly storeOffsets: Call<StoredOffsets, null>
  readonly readOffsets: Call<
    { readonly connector: string; readonly partitions: ReadonlyArray<string> },
    ReadonlyArray<string | undefined>
  >
  readonly listOffsets: Call<
    { readonly connector: string },
    ReadonlyArray<{ readonly partition: string; readonly offset: string }>
  >
  readonly alterOffsets: Call<FencedConnector & Pick<StoredOffsets, "entries">, null>

  readonly topics: Call<null, null>
  readonly createTopic: Call<{ readonly name: string; readonly partitions: number }, null>
  /**
   * Appends all and stores the offsets. `partitions` says for how many partitions each topic's records were dealt; when
   * that is not so, nothing is stored and the answer is `false`: the topics are told, deal again.
   */
  readonly append: Call<
    {
      readonly run: ItemRun
      readonly usage: string | undefined
      readonly partitions: ReadonlyArray<readonly [topic: string, partitions: number]>
      readonly batches: ReadonlyArray<EncodedBatch>
      readonly offsets: StoredOffsets | undefined
      readonly nowMillis: number
    },
    boolean
  >
  readonly readBatches: Call<
    { readonly from: ReadonlyArray<ReadFrom>; readonly maxRecords: number; readonly maxBytes: number },
    ReadonlyArray<ReadBatch>
  >
  readonly subscribe: Call<{ readonly run: ItemRun; readonly group: string }, ReadonlyArray<StoredPosition>>
  readonly positions: Call<{ readonly group: string }, ReadonlyArray<StoredPosition>>
  readonly commitPositions: Call<
    {
      readonly run: ItemRun
      readonly usage: string | undefined
      readonly group: string
      readonly positions: ReadonlyArray<StoredPosition>
    },
    null
  >
  readonly alterPositions: Call<
    FencedConnector & {
      readonly group: string
      readonly positions: ReadonlyArray<Omit<StoredPosition, "offset"> & { readonly offset: number | null }>
    },
    null
  >
  readonly usedTopics: Call<{ readonly usage: string }, ReadonlyArray<string>>
  readonly forgetTopics: Call<{ readonly usage: string }, null>
}

/** How long records are kept. The last batch of a partition always is, so that offsets go on after it. */
export interface Retention {
  readonly millis: number
  /** Of each partition. */
  readonly bytes: number | undefined
}
