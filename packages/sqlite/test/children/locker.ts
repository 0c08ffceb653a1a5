/** Holds the write lock of a database file until it is told to let go. */
import { DatabaseSync } from "node:sqlite"

const database = new DatabaseSync(process.argv[2] ?? "")
database.exec("BEGIN IMMEDIATE")
console.log("locked")
process.stdin.once("data", () => {
  database.exec("COMMIT")
  database.close()
  process.stdin.destroy()
})
