/**
 * Runs simulations of consecutive seeds for a while; ends with an error and the shortest failing run when a law breaks.
 *
 * `pnpm simulate [--seconds 120] [--from 1] [--operations 120] [--workers 1]`
 */
import * as Simulation from "@kelpie/testkit/Simulation"
import { Effect } from "effect"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "120" },
    from: { type: "string", default: "1" },
    operations: { type: "string", default: "120" },
    workers: { type: "string", default: "1" }
  }
})
const until = performance.now() + Number(values.seconds) * 1000
const first = Number(values.from)
let seed = first
for (; performance.now() < until; seed++) {
  const result = Effect.runSync(
    Simulation.run({ seed, operations: Number(values.operations), workers: Number(values.workers) })
  )
  if (result._tag === "Failed") {
    console.error(Simulation.format(result))
    process.exit(1)
  }
  if ((seed - first) % 50 === 49) console.log(`${seed - first + 1} seeds, every law held`)
}
console.log(`seeds ${first} to ${seed - 1} done: ${seed - first} runs, every law held`)
