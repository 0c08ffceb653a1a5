import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { ConnectApi } from "../src/index.ts"
import { serve } from "../src/NodeServer.ts"
import * as Herders from "./herders.ts"
import { send } from "./http.ts"

it("is described with all of its paths in OpenAPI", () => {
  const { info, paths } = OpenApi.fromApi(ConnectApi.ConnectApi)
  assert.strictEqual(info.version, "4.4.0")
  const described = Object.entries(paths).map(([path, methods]) => `${path}: ${Object.keys(methods).sort().join(" ")}`)
  assert.deepStrictEqual(described.sort(), [
    "/: get",
    "/admin/drain: post",
    "/admin/loggers/{logger}: get put",
    "/admin/loggers: get",
    "/admin/reconfigurations/retry: post",
    "/admin/workers: get",
    "/connector-plugins/{plugin}/config/validate: put",
    "/connector-plugins/{plugin}/config: get",
    "/connector-plugins: get",
    "/connectors/{connector}/config: get patch put",
    "/connectors/{connector}/offsets: delete get patch",
    "/connectors/{connector}/pause: put",
    "/connectors/{connector}/reconfiguration/park: post",
    "/connectors/{connector}/reconfiguration/resume: post",
    "/connectors/{connector}/reconfiguration/retry: post",
    "/connectors/{connector}/reconfiguration: get",
    "/connectors/{connector}/restart: post",
    "/connectors/{connector}/resume: put",
    "/connectors/{connector}/status: get",
    "/connectors/{connector}/stop: put",
    "/connectors/{connector}/tasks/{task}/restart: post",
    "/connectors/{connector}/tasks/{task}/status: get",
    "/connectors/{connector}/tasks: get",
    "/connectors/{connector}/topics/reset: put",
    "/connectors/{connector}/topics: get",
    "/connectors/{connector}: delete get",
    "/connectors: get post",
    "/health: get",
    "/metrics: get",
    "/openapi.json: get",
    "/operations/{operation}: get"
  ])
})

it.live("tells the version of its package", () =>
  Effect.gen(function*() {
    const { url } = yield* Effect.provide(serve({ port: 0 }), Herders.memory)
    const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    const { json } = yield* send(url, { method: "GET", path: "/" })
    const { version } = manifest as { readonly version: string }
    assert.strictEqual((json as { readonly kelpie_version: string }).kelpie_version, version)
  }))

it.live("listens on loopback unless it is told otherwise", () =>
  Effect.gen(function*() {
    const address = yield* Effect.provide(serve({ port: 0, prefix: "/connect" }), Herders.memory)
    assert.strictEqual(address.host, "127.0.0.1")
    assert.isAbove(address.port, 0)
    assert.strictEqual(address.url, `http://127.0.0.1:${address.port}/connect`)
  }))
