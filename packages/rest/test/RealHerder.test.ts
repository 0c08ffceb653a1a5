import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { serve } from "../src/NodeServer.ts"
import { BaseUrl, conformance } from "./conformance.ts"
import * as Herders from "./herders.ts"
import { send } from "./http.ts"

const served = (prefix?: `/${string}`) =>
  Layer.effect(BaseUrl, Effect.map(serve({ port: 0, prefix }), ({ url }) => url))

conformance("a herder in memory", Layer.provide(served(), Herders.memory))

conformance("a herder over SQLite, below a prefix", Layer.provide(served("/connect"), Herders.sqlite))

it.live("metrics count what the herder does", () =>
  Effect.gen(function*() {
    const { url } = yield* serve({ port: 0 })
    const counted = (series: string) =>
      Effect.map(send(url, { method: "GET", path: "/metrics", headers: {} }), ({ text }) => {
        const line = text.split("\n").find((one) => one.startsWith(`${series} `))
        return Number(line?.slice(series.length + 1) ?? 0)
      })
    const series = [
      `kelpie_reconfiguration_transitions_total{from="Running",to="Waiting"}`,
      `kelpie_status_changes_total{from="UNASSIGNED",to="RUNNING"}`,
      `kelpie_health_changes_total{from="recovering",to="paused"}`
    ]
    const before = yield* Effect.forEach(series, counted)
    const config = { "connector.class": "Scripted", fail: "taskConfigs" }
    yield* send(url, { method: "PUT", path: "/connectors/counted/config", body: config })
    const untilMore = (index: number) =>
      Effect.repeat(counted(series[index] ?? ""), {
        schedule: Schedule.spaced("20 millis"),
        until: (count) => count > (before[index] ?? 0)
      }).pipe(Effect.timeout("10 seconds"))
    yield* untilMore(0)
    yield* untilMore(1)
    yield* send(url, { method: "PUT", path: "/connectors/counted/pause" })
    assert.isAbove(yield* untilMore(2), 0)
  }).pipe(Effect.provide(Herders.memory)))
