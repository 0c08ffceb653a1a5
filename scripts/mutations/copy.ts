/**
 * A copy of the workspace in a temporary folder: what is there is broken, what is here never is.
 *
 * The links in `node_modules` are relative. They are made anew in the copy, so that its packages use each other; only
 * the store of downloaded packages is shared.
 */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const copySources = (from: string, to: string): void => {
  const listed = execFileSync("git", ["ls-files", "-coz", "--exclude-standard"], { cwd: from, encoding: "utf8" })
  for (const file of listed.split("\0")) {
    // a file that was deleted and not committed is still listed
    if (file === "" || !fs.existsSync(path.join(from, file))) continue
    fs.cpSync(path.join(from, file), path.join(to, file), { verbatimSymlinks: true })
  }
}

/** Makes the links of one `node_modules` anew: of packages, and of those in a scope. */
const copyLinks = (from: string, to: string): void => {
  fs.mkdirSync(to, { recursive: true })
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)]
    if (entry.name === ".pnpm") fs.symlinkSync(source, target)
    else if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target)
    else if (entry.name.startsWith("@")) copyLinks(source, target)
  }
}

/** A package of the workspace that is used from outside of the copy would be whole, whatever is broken in the copy. */
const checkLinks = (modules: string, root: string): void => {
  const scope = path.join(modules, "@kelpie")
  for (const name of fs.existsSync(scope) ? fs.readdirSync(scope) : []) {
    const real = fs.realpathSync(path.join(scope, name))
    if (!real.startsWith(root + path.sep)) {
      throw new Error(`${path.join(scope, name)} leads out of the copy, to ${real}`)
    }
  }
}

/** Copies a workspace and gives the folder of the copy. */
export const copyWorkspace = (from: string): string => {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "kelpie-mutations-")))
  copySources(from, root)
  const folders = [
    "",
    ...["packages", "examples"].flatMap((group) =>
      fs.readdirSync(path.join(from, group)).map((name) => path.join(group, name))
    )
  ]
  const modules = folders.map((folder) => path.join(folder, "node_modules")).filter((at) =>
    fs.existsSync(path.join(from, at))
  )
  for (const at of modules) copyLinks(path.join(from, at), path.join(root, at))
  for (const at of modules) checkLinks(path.join(root, at), root)
  return root
}
