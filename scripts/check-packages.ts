/**
 * Checks what is published: builds and packs every package, installs the archives in an empty project with npm, compiles
 * against them, imports every entry, and runs pipelines from what was installed.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const root = path.resolve(import.meta.dirname, "..")
const names = fs.readdirSync(path.join(root, "packages")).filter((name) =>
  fs.existsSync(path.join(root, "packages", name, "package.json"))
)
const packages = names.map((name) => `@kelpie/${name}`)

/** Ends everything with the command's exit code if it fails. */
const run = (directory: string, command: string, ...args: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd: directory, encoding: "utf8" })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? `${stdout}${stderr}`}`)
}

/** The version that is installed here, so that what is installed there is what was tested. */
const versionOf = (name: string): string => {
  const { version }: { readonly version: string } = JSON.parse(
    fs.readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")
  )
  return version
}

/** Nothing but sources and what was built from them belongs into an archive. */
const checkFiles = (archive: string): void => {
  const files = run(root, "tar", "-tzf", archive).trim().split("\n")
  const wrong = files.filter((file) =>
    !/^package\/(?:package\.json|README\.md|LICENSE|src\/.+\.ts|dist\/.+\.(?:js|d\.ts)(?:\.map)?)$/.test(file)
  )
  if (wrong.length > 0) throw new Error(`${archive} holds ${wrong.join(", ")}`)
  if (!files.includes("package/dist/index.js")) throw new Error(`${archive} is not built`)
}

/** What was built from a source that is gone would be packed too. */
const removeStale = (name: string): void => {
  const directory = path.join(root, "packages", name)
  for (const file of fs.globSync("dist/**/*.{js,d.ts,map}", { cwd: directory })) {
    const source = file.replace(/^dist/, "src").replace(/(?:\.js|\.d\.ts)(?:\.map)?$/, ".ts")
    if (!fs.existsSync(path.join(directory, source))) fs.rmSync(path.join(directory, file))
  }
}

const pack = (folder: string): ReadonlyArray<string> => {
  run(root, "tsc", "-b", ...names.map((name) => `packages/${name}`))
  for (const name of names) removeStale(name)
  return names.map((name) => {
    const before = new Set(fs.readdirSync(folder))
    run(path.join(root, "packages", name), "pnpm", "pack", "--pack-destination", folder)
    const archive = fs.readdirSync(folder).find((file) => !before.has(file))
    if (archive === undefined) throw new Error(`packages/${name} was not packed`)
    checkFiles(path.join(folder, archive))
    return path.join(folder, archive)
  })
}

const compilerOptions = {
  module: "nodenext",
  target: "es2024",
  // effect's own types need the browser's
  lib: ["es2024", "esnext.disposable", "dom"],
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  types: ["node"],
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true
}

/** An empty project that has installed the archives, and the peers from the registry. */
const install = (folder: string, archives: ReadonlyArray<string>): void => {
  const peers = ["effect", "@effect/platform-node", "vitest"].map((name) => `${name}@${versionOf(name)}`)
  const types = `@types/node@${versionOf("@types/node")}`
  fs.writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ name: "installed", private: true, type: "module" })
  )
  fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  fs.cpSync(path.join(root, "scripts", "packcheck"), folder, { recursive: true })
  run(folder, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...archives, ...peers, types)
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kelpie-packages-"))
try {
  const archives = path.join(folder, "archives")
  const project = path.join(folder, "project")
  fs.mkdirSync(archives)
  fs.mkdirSync(project)
  const say = (text: string) => process.stdout.write(`${text}\n`)
  const packed = pack(archives)
  say(`${packed.length} packages built and packed`)
  install(project, packed)
  say("installed with npm in an empty project")
  run(project, path.join(root, "node_modules", ".bin", "tsc"), "-p", ".")
  say("compiled against under nodenext")
  process.stdout.write(run(project, process.execPath, "entries.ts", ...packages))
  process.stdout.write(run(project, process.execPath, "pipelines.ts"))
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
