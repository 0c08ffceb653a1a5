/** The files of one run, and the connectors between them. */
import * as path from "node:path"

/** Where things are. */
export interface Site {
  readonly folder: string
  /** What the source reads. */
  readonly database: string
  /** What the file sink writes: a JSON object a line. */
  readonly file: string
  /** What the database sink writes. */
  readonly target: string
  /** What the worker keeps. */
  readonly dataDir: string
}

/** A site in a folder. */
export const make = (folder: string): Site => ({
  folder,
  database: path.join(folder, "source.db"),
  file: path.join(folder, "copy.jsonl"),
  target: path.join(folder, "target.db"),
  dataDir: path.join(folder, "worker")
})

/** The most rows of a batch of the source. Small, so that there is a middle of a copy to kill a worker in. */
const batchRows = 100

/** Name -> configuration of the connectors, as clients submit them. */
export const connectors = (site: Site): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  tables: {
    "connector.class": "SqliteSource",
    "tasks.max": "3",
    database: site.database,
    "incrementing.column.name": "id",
    "topic.prefix": "tables.",
    "batch.max.rows": `${batchRows}`,
    "table.poll.interval.ms": "200"
  },
  file: {
    "connector.class": "FileSink",
    "topics.regex": "tables[.].*",
    file: site.file,
    // a line has to say which table its row is of
    transforms: "table",
    "transforms.table.type": "InsertField$Value",
    "transforms.table.topic.field": "table"
  },
  database: {
    "connector.class": "SqliteSink",
    "topics.regex": "tables[.].*",
    database: site.target,
    // a row that comes twice replaces itself
    "insert.mode": "upsert",
    "pk.fields": "id",
    transforms: "table",
    "transforms.table.type": "RegexRouter",
    "transforms.table.regex": "tables[.](.*)",
    "transforms.table.replacement": "$1"
  }
})
