/** Runs every benchmark, one after the other, each in a process of its own; `--write` keeps the results. */
import { spawnSync } from "node:child_process"

for (const name of ["pipeline", "create", "idle", "storm", "placement"]) {
  const { status } = spawnSync(process.execPath, [`${import.meta.dirname}/${name}.ts`, ...process.argv.slice(2)], {
    stdio: "inherit"
  })
  if (status !== 0) process.exitCode = 1
}
