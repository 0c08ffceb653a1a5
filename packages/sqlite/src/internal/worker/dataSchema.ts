/** The schema of `data.db`: statuses, offsets, topics and positions, with the floors of the two that have writers. */
import type { DatabaseSync } from "node:sqlite"
import type { Kind } from "./openDatabase.ts"

/**
 * Version 1. A row of `batches` holds all records of one partition that were appended together; the index alone answers
 * what the next offset is and where a reader goes on.
 */
const create = (database: DatabaseSync) => {
  database.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE floors (
      store TEXT NOT NULL,    -- 'offsets' or 'topics'
      item TEXT NOT NULL,
      token INTEGER NOT NULL,
      start INTEGER NOT NULL,
      PRIMARY KEY (store, item)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE statuses (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, for readers in other processes
      item TEXT NOT NULL UNIQUE,
      token INTEGER NOT NULL,
      writer TEXT NOT NULL,
      record TEXT NOT NULL    -- JSON
    ) STRICT;
    CREATE TABLE offsets (
      connector TEXT NOT NULL,
      source_partition TEXT NOT NULL,
      source_offset TEXT NOT NULL,
      PRIMARY KEY (connector, source_partition)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE topics (
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
      name TEXT NOT NULL UNIQUE,
      partitions INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE batches (
      id INTEGER PRIMARY KEY,
      topic INTEGER NOT NULL REFERENCES topics (id),
      topic_partition INTEGER NOT NULL,
      end_offset INTEGER NOT NULL, -- of the last record, + 1
      count INTEGER NOT NULL,      -- so the first offset is end_offset - count
      end_bytes INTEGER NOT NULL,  -- bytes of the partition up to here, those that are gone too
      max_timestamp REAL NOT NULL, -- of the records, epoch milliseconds
      stored_at INTEGER NOT NULL,  -- epoch milliseconds; what retention looks at
      data BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX batches_by_offset ON batches (topic, topic_partition, end_offset);
    CREATE TABLE positions (
      reader TEXT NOT NULL,   -- the group
      topic TEXT NOT NULL,
      topic_partition INTEGER NOT NULL,
      next_offset INTEGER NOT NULL,
      PRIMARY KEY (reader, topic, topic_partition)
    ) STRICT, WITHOUT ROWID;
  `)
}

/** Version 2: the topics that were used, together with what was stored in them or of them. */
const addUsedTopics = (database: DatabaseSync) => {
  database.exec(`
    CREATE TABLE used_topics (
      usage TEXT NOT NULL,
      topic TEXT NOT NULL,
      PRIMARY KEY (usage, topic)
    ) STRICT, WITHOUT ROWID;
  `)
}

/** What `data.db` is. */
export const data: Kind = { name: "data.db", applicationId: 0x4b6c7044, migrations: [create, addUsedTopics] }
