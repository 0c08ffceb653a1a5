/** The schema of `control.db`: the config log, of which the last record of each key is kept. */
import type { DatabaseSync } from "node:sqlite"
import type { Kind } from "./openDatabase.ts"

/** Version 1. Positions are rowids, so the order of positions is the order of the table. */
const create = (database: DatabaseSync) => {
  database.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO counters (name, value) VALUES ('claim', 0), ('position', 0), ('pruned', 0);
    CREATE TABLE records (
      position INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      value TEXT,             -- JSON; NULL is a tombstone
      removed_at INTEGER      -- epoch milliseconds, of a tombstone
    ) STRICT;
    CREATE INDEX tombstones ON records (removed_at) WHERE value IS NULL;
  `)
}

/** Version 2: the workers that share the directory, and their keys. */
const share = (database: DatabaseSync) => {
  database.exec(`
    CREATE TABLE sessions (
      joined INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of joining
      session TEXT NOT NULL UNIQUE,
      worker_id TEXT NOT NULL UNIQUE,
      worker TEXT NOT NULL,                     -- JSON
      counter INTEGER NOT NULL,                 -- of renewals
      draining INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE session_keys (
      added INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      secret TEXT NOT NULL,
      created_at INTEGER NOT NULL               -- epoch milliseconds
    ) STRICT;
  `)
}

/** What `control.db` is. */
export const control: Kind = { name: "control.db", applicationId: 0x4b6c7043, migrations: [create, share] }
