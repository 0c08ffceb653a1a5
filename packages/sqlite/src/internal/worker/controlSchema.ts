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

/** What `control.db` is. */
export const control: Kind = { name: "control.db", applicationId: 0x4b6c7043, migrations: [create] }
