/**
 * The TypeScript in the documentation: found, written to files, so that it is compiled and run as a reader would.
 *
 * A block fenced with `ts` is a whole module. A first line `// name.ts` names it, and later blocks of the same page may
 * import it as `./name.ts`. A block fenced with `text` right behind it is what it prints. `serve=/path` behind the fence
 * says that the module listens on the port of the variable `PORT` and answers that path.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"

/** A module of a page. */
export interface Snippet {
  /** Of the page, from the root of the repository. */
  readonly page: string
  /** Of its fence, from 1. */
  readonly line: number
  readonly file: string
  readonly code: string
  /** What it prints; `undefined`: the page does not say. */
  readonly output: string | undefined
  /** The path that it serves. */
  readonly serves: string | undefined
  /** Whether it registers tests. */
  readonly isTest: boolean
}

/** A fenced block. */
export interface Block {
  /** What stands behind its fence. */
  readonly info: string
  /** Of its fence, from 1. */
  readonly line: number
  readonly text: string
  /** Lines between the block before it and this one that are not empty. */
  readonly gap: number
}

/** The fenced blocks of a page. */
export const blocks = (markdown: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let open: { readonly info: string; readonly line: number; readonly lines: Array<string> } | undefined
  let gap = 0
  markdown.split("\n").forEach((text, index) => {
    if (!text.startsWith("```")) {
      if (open !== undefined) open.lines.push(text)
      else if (text.trim() !== "") gap++
    } else if (open === undefined) open = { info: text.slice(3), line: index + 1, lines: [] }
    else {
      found.push({ info: open.info, line: open.line, text: `${open.lines.join("\n")}\n`, gap })
      open = undefined
      gap = 0
    }
  })
  return found
}

/** The modules of a page. */
export const parse = (page: string, markdown: string): ReadonlyArray<Snippet> => {
  const all = blocks(markdown)
  return all.flatMap(({ info, line, text }, index): ReadonlyArray<Snippet> => {
    const [language, ...words] = info.split(" ")
    if (language !== "ts") return []
    const next = all[index + 1]
    return [{
      page,
      line,
      file: /^\/\/ (\S+\.ts)$/m.exec(text.split("\n")[0] ?? "")?.[1] ?? `line-${line}.ts`,
      code: text,
      output: next?.info === "text" && next.gap === 0 ? next.text : undefined,
      serves: words.find((word) => word.startsWith("serve="))?.slice("serve=".length),
      isTest: text.includes("from \"@effect/vitest\"") || text.includes("@kelpie/testkit/vitest")
    }]
  })
}

/** The pages whose modules are run. */
export const documentation = ["*.md", "docs/**/*.md"]

/** Further pages, which show parts of modules only. */
export const packagePages = ["packages/*/README.md", "examples/*/README.md", "bench/README.md"]

/** Pages by their patterns, from the root of the repository. */
export const pages = async (root: string, patterns: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for await (const file of fs.glob([...patterns], { cwd: root })) found.push(file)
  return found.sort()
}

/**
 * A new folder for modules. It is inside the repository, so that packages are found as a host finds them; git and the
 * linters ignore it.
 */
export const folder = async (): Promise<string> => {
  const dist = path.join(import.meta.dirname, "dist")
  await fs.mkdir(dist, { recursive: true })
  return fs.mkdtemp(path.join(dist, "snippets-"))
}

/** Where a module stands under a folder: each page has a folder of its own. */
export const placeOf = (folder: string, { file, page }: Snippet): string =>
  path.join(folder, page.replaceAll(/[/.]/g, "-"), file)

/** Reads every page, and writes its modules under a folder. */
export const write = async (root: string, folder: string): Promise<ReadonlyArray<Snippet>> => {
  const snippets: Array<Snippet> = []
  for (const page of await pages(root, documentation)) {
    snippets.push(...parse(page, await fs.readFile(path.join(root, page), "utf8")))
  }
  for (const snippet of snippets) {
    const place = placeOf(folder, snippet)
    await fs.mkdir(path.dirname(place), { recursive: true })
    await fs.writeFile(place, snippet.code)
  }
  return snippets
}
