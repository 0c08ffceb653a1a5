import { assert, describe, it } from "@effect/vitest"
import { CounterSource, start } from "../src/node-host.ts"

/** An array that a sink fills, and somebody who waits for its length. */
const collector = (wanted: number) => {
  const values: Array<unknown> = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const take = async (more: ReadonlyArray<unknown>) => {
    values.push(...more)
    if (values.length >= wanted) resolve()
  }
  return { values, take, full: promise }
}

describe("a host without Effect", () => {
  it("runs an async generator into an async function", async () => {
    const { full, take, values } = collector(3)
    await using host = await start({ port: 0, take })
    await host.kelpie.put("counter", CounterSource.config({ topic: "counts", step: 5, pause: 0 }))
    await host.kelpie.put("out", { "connector.class": "CallbackSink", topics: "counts" })
    await full
    assert.deepStrictEqual(values.slice(0, 3), [{ count: 5 }, { count: 10 }, { count: 15 }])
  })

  it("keeps a batch until the application takes it", async () => {
    const { full, take, values } = collector(1)
    let refusals = 2
    await using host = await start({
      port: 0,
      take: (more) => refusals-- > 0 ? Promise.reject(new Error("not now")) : take(more)
    })
    await host.kelpie.put("counter", CounterSource.config({ topic: "counts", pause: 60_000 }))
    await host.kelpie.put("out", { "connector.class": "CallbackSink", topics: "counts" })
    await full
    assert.deepStrictEqual(values, [{ count: 1 }])
  })

  it("serves its own page beside the connectors' API", async () => {
    await using host = await start({ port: 0, take: async () => {} })
    assert.strictEqual(await (await fetch(host.url)).text(), "the host's own page\n")
    assert.deepStrictEqual(await (await fetch(`${host.url}/connect/connectors`)).json(), [])
  })
})
