/** Connectors: listed, made, read, changed, deleted. */
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import { ConnectApi, type Expanded } from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import * as Answer from "./answer.ts"
import * as configBody from "./configBody.ts"
import * as createBody from "./createBody.ts"
import { fromHerder } from "./failure.ts"
import { JsonBody } from "./jsonBody.ts"

/** Where clients find a connector, absolute: by the address that the request came to. */
export type Locate = (request: HttpServerRequest, name: string) => string

const noStatus = (name: string) => `No status found for connector ${name}`

const created = (written: Herder.Written, location: string) =>
  HttpApiSchema.withHeaders({ body: Answer.info(written.info, written.warnings), headers: { location } })

/** The handlers of the group `connectors`. */
export const layer = (locate: Locate) =>
  HttpApiBuilder.group(
    ConnectApi,
    "connectors",
    Effect.fnUntraced(function*(handlers) {
      const herder = yield* Herder
      return handlers.handleAll({
        list: ({ query }) => query.expand === undefined ? herder.list : expanded(herder, new Set(query.expand)),
        get: ({ params }) =>
          herder.info(params.connector).pipe(Effect.map((info) => Answer.info(info)), Effect.mapError(fromHerder())),
        delete: ({ params }) => Effect.mapError(herder.delete(params.connector), fromHerder()),
        config: ({ params }) =>
          herder.info(params.connector).pipe(Effect.map((info) => info.config), Effect.mapError(fromHerder())),
        status: ({ params }) =>
          herder.status(params.connector).pipe(Effect.map(Answer.status), Effect.mapError(fromHerder(noStatus))),
        tasks: ({ params: { connector } }) =>
          herder.tasks(connector).pipe(
            Effect.map((tasks) => tasks.map(({ config, task }) => ({ id: { connector, task }, config }))),
            Effect.mapError(fromHerder())
          ),
        taskStatus: ({ params }) => taskStatus(herder, params.connector, params.task),
        offsets: ({ params }) =>
          herder.offsets(params.connector).pipe(Effect.map((offsets) => ({ offsets })), Effect.mapError(fromHerder())),
        topics: ({ params: { connector } }) =>
          herder.topics(connector).pipe(
            Effect.map((topics) => Object.fromEntries([[connector, { topics }]])),
            Effect.mapError(fromHerder())
          )
      }).handleRaw(
        "create",
        Effect.fnUntraced(function*({ request }) {
          const { config, initialState, name } = yield* createBody.read(yield* JsonBody)
          const written = yield* Effect.mapError(herder.create(name, config, { initialState }), fromHerder())
          return created(written, locate(request, name))
        })
      ).handleRaw(
        "putConfig",
        Effect.fnUntraced(function*({ params: { connector }, request }) {
          const config = yield* configBody.named(connector, yield* configBody.config(yield* JsonBody))
          const written = yield* Effect.mapError(herder.put(connector, config), fromHerder())
          return written.created
            ? created(written, locate(request, connector))
            : Answer.info(written.info, written.warnings)
        })
      ).handleRaw(
        "patchConfig",
        Effect.fnUntraced(function*({ params: { connector } }) {
          const changes = yield* configBody.patch(yield* JsonBody, connector)
          const written = yield* Effect.mapError(herder.patch(connector, changes), fromHerder())
          return Answer.info(written.info, written.warnings)
        })
      )
    })
  )

/** The map of all connectors; one that is deleted meanwhile is left out. */
const expanded = (herder: Herder["Service"], wanted: ReadonlySet<"status" | "info">) =>
  Effect.gen(function*() {
    const entries: Array<readonly [string, Expanded]> = []
    for (const name of yield* herder.list) {
      yield* Effect.gen(function*() {
        const status = wanted.has("status") ? { status: Answer.status(yield* herder.status(name)) } : {}
        const info = wanted.has("info") ? { info: Answer.info(yield* herder.info(name)) } : {}
        entries.push([name, { ...status, ...info }])
      }).pipe(Effect.catchReason("HerderError", "ConnectorNotFound", () => Effect.void))
    }
    return Object.fromEntries(entries)
  }).pipe(Effect.mapError(fromHerder()))

const taskStatus = Effect.fnUntraced(function*(herder: Herder["Service"], connector: string, number: number) {
  const unknown = `No status found for task ${connector}-${number}`
  const { tasks } = yield* Effect.mapError(herder.status(connector), fromHerder(() => unknown))
  const task = tasks.find(({ task }) => task === number)
  return task === undefined ? yield* new RestError.NotFound({ message: unknown }) : Answer.taskStatus(task)
})
