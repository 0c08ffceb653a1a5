/** The documentation is true: its programs run and print what the page says, and its commands do what it says. */
import { assert } from "@effect/vitest"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { afterAll, describe, it } from "vitest"
import * as Processes from "./Processes.ts"
import * as Snippets from "./Snippets.ts"

const root = path.resolve(import.meta.dirname, "..")
const folder = await Snippets.folder()
afterAll(() => fs.rm(folder, { recursive: true }))
const snippets = (await Snippets.write(root, folder)).filter(({ isTest }) => !isTest)

/** Runs in a fresh folder, as a reader would who tries it out. */
const inFreshFolder = async <A>(use: (cwd: string) => Promise<A>): Promise<A> => {
  const cwd = await fs.mkdtemp(path.join(tmpdir(), "kelpie-readme-"))
  try {
    return await use(cwd)
  } finally {
    await fs.rm(cwd, { recursive: true })
  }
}

const runs = (snippet: Snippets.Snippet) =>
  inFreshFolder(async (cwd) => {
    const child = Processes.start(process.execPath, [Snippets.placeOf(folder, snippet)], { cwd })
    const { code, errors, output } = await Processes.ended(child)
    assert.strictEqual(code, 0, errors + output)
    if (snippet.output !== undefined) assert.strictEqual(output, snippet.output)
  })

const serves = (snippet: Snippets.Snippet, served: string) =>
  inFreshFolder(async (cwd) => {
    const port = await Processes.freePort()
    const env = { PORT: `${port}` }
    const child = Processes.start(process.execPath, [Snippets.placeOf(folder, snippet)], { cwd, env })
    try {
      await Processes.said(child, /listen/i)
      const response = await fetch(`http://127.0.0.1:${port}${served}`)
      assert.strictEqual(response.status, 200, await response.text())
    } finally {
      await Processes.stop(child)
    }
  })

for (const [page, all = []] of Object.entries(Object.groupBy(snippets, (snippet) => snippet.page))) {
  describe(page, () => {
    for (const snippet of all) {
      const name = `${snippet.file} (line ${snippet.line})`
      const { output, serves: served } = snippet
      if (served !== undefined) it(`${name} serves ${served}`, () => serves(snippet, served))
      else it(`${name} runs${output === undefined ? "" : " and prints what the page says"}`, () => runs(snippet))
    }
  })
}

it("the commands of README.md copy a file through a worker", () =>
  inFreshFolder(async (cwd) => {
    const readme = await fs.readFile(path.join(root, "README.md"), "utf8")
    const commands = Snippets.blocks(readme).find(({ info }) => info === "sh run=worker")
    assert.isDefined(commands)
    const port = await Processes.freePort()
    const script = commands.text.replaceAll("localhost:8083", `127.0.0.1:${port}`)
    const main = path.join(root, "examples", "worker", "src", "main.ts")
    const worker = Processes.start(process.execPath, [main, "--port", `${port}`, "--data-dir", "./data"], { cwd })
    const watch = new AbortController()
    try {
      await Processes.said(worker, /listens on/)
      // the copy is made while it is watched, so that nothing has to be waited for by time
      const copied = waitForFile(path.join(cwd, "data"), "lines-copy.txt", "one\ntwo\n", watch.signal)
      const { code, errors, output } = await Processes.ended(Processes.start("sh", ["-ec", script], { cwd }))
      assert.strictEqual(code, 0, errors + output)
      await copied
    } finally {
      watch.abort()
      await Processes.stop(worker)
    }
  }))

/** Waits until a file has a text, or the signal. */
const waitForFile = async (directory: string, name: string, text: string, signal: AbortSignal): Promise<void> => {
  const read = () => fs.readFile(path.join(directory, name), "utf8").catch(() => "")
  try {
    for await (const _ of fs.watch(directory, { signal })) if (await read() === text) return
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
