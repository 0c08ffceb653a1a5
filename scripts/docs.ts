/**
 * Writes the part of the documentation that the code already says: `docs/reference`, `docs/diagrams`, and the diagrams
 * inside other pages. Run it with `pnpm docs:generate`; a test fails when what is committed differs.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { diagrams, fillDiagrams } from "./docs/diagrams.ts"
import { reference } from "./docs/reference.ts"

const root = path.resolve(import.meta.dirname, "..")

/** Every file that is generated, and its text. Paths are from the root of the repository. */
export const generate = async (): Promise<ReadonlyMap<string, string>> => {
  const files = new Map([...reference(), ...diagrams()])
  for (const page of ["docs/reconfiguration.md", "docs/architecture.md"]) {
    files.set(page, fillDiagrams(await fs.readFile(path.join(root, page), "utf8")))
  }
  return files
}

if (import.meta.main) {
  for (const [file, text] of await generate()) {
    await fs.mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await fs.writeFile(path.join(root, file), text)
  }
}
