/** Imports every entry of the installed packages that are named on the command line; ends with 1 if one cannot be. */
import * as fs from "node:fs"
import * as path from "node:path"

/** The entries of a package: the package itself, and every module that its exports do not hide. */
const entriesOf = (name: string): ReadonlyArray<string> => {
  const modules = fs.readdirSync(path.join("node_modules", name, "dist"))
    .filter((file) => file.endsWith(".js") && file !== "index.js")
  return [name, ...modules.map((file) => `${name}/${path.basename(file, ".js")}`)]
}

const names = process.argv.slice(2)
let imported = 0
for (const entry of names.flatMap(entriesOf)) {
  try {
    await import(entry)
    imported++
  } catch (cause) {
    process.exitCode = 1
    process.stderr.write(`${entry} cannot be imported: ${cause instanceof Error ? cause.message : String(cause)}\n`)
  }
}
// what is private must not be reachable
for (const name of names) {
  const hidden = await import(`${name}/internal/anything`).then(
    () => "found",
    (cause: NodeJS.ErrnoException) => cause.code
  )
  if (hidden !== "ERR_PACKAGE_PATH_NOT_EXPORTED") {
    process.exitCode = 1
    process.stderr.write(`${name}/internal is not hidden: ${hidden}\n`)
  }
}
process.stdout.write(`${imported} entries of ${names.length} packages imported\n`)
