/** Counts what the file sink has written, while it writes. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** What has arrived of one table. */
export interface Arrived {
  /** Ids of rows. */
  readonly ids: ReadonlySet<number>
  /** Lines with a row that had arrived before. */
  readonly duplicates: number
}

const Line = Schema.fromJsonString(Schema.Struct({ table: Schema.String, id: Schema.Int }))
const decode = Schema.decodeUnknownOption(Line)

/** A file that grows; only what is new is read. */
export class FileCopy {
  readonly #file: string
  readonly #tables = new Map<string, { readonly ids: Set<number>; duplicates: number }>()
  #position = 0
  #unreadable = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Reads what was added. */
  readonly refresh = Effect.gen({ self: this }, function*() {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* fs.exists(this.#file))) return
    const chunks = yield* Stream.runCollect(fs.stream(this.#file, { offset: this.#position }))
    const bytes = Buffer.concat(chunks)
    const end = bytes.lastIndexOf("\n") + 1
    this.#position += end
    for (const line of bytes.toString("utf8", 0, end).split("\n")) {
      if (line !== "") this.#add(line)
    }
  })

  /** Of a table, by the name that it has at the source. */
  arrived(table: string): Arrived {
    return this.#tables.get(table) ?? { ids: new Set(), duplicates: 0 }
  }

  /** Lines that are no rows: of each the worker was killed while it wrote, and wrote its rows again. */
  get unreadable(): number {
    return this.#unreadable
  }

  #add(text: string): void {
    const line = decode(text)
    if (line._tag === "None") {
      this.#unreadable++
      return
    }
    const table = line.value.table.slice("tables.".length)
    const arrived = this.#tables.get(table) ?? { ids: new Set<number>(), duplicates: 0 }
    this.#tables.set(table, arrived)
    if (arrived.ids.has(line.value.id)) arrived.duplicates++
    else arrived.ids.add(line.value.id)
  }
}
