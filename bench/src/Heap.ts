/** The heap after a forced collection. */
import * as v8 from "node:v8"
import * as vm from "node:vm"

v8.setFlagsFromString("--expose-gc")
const gc: () => void = vm.runInNewContext("gc")

/** Collects what nobody holds. Twice, with a turn between: finalizers and weak references free more. */
export const collect = async (): Promise<void> => {
  gc()
  await new Promise((resolve) => setImmediate(resolve))
  gc()
}

/** Bytes that are in use: JavaScript's heap and what it holds outside of it. */
export const used = async (): Promise<number> => {
  await collect()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
