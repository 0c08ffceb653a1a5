import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { serve } from "../src/NodeServer.ts"
import { BaseUrl } from "./conformance.ts"
import * as Herders from "./herders.ts"
import { send, sendBytes } from "./http.ts"

const Server = Layer.effect(BaseUrl, Effect.map(serve({ port: 0 }), ({ url }) => url)).pipe(
  Layer.provide(Herders.memory)
)

/** A request without its body; the server closes the connection behind its answer, so nobody has to wait for its end. */
const lines = (first: string, ...headers: ReadonlyArray<string>) => {
  const all = headers.some((header) => header.startsWith("Connection:")) ? headers : [...headers, "Connection: close"]
  return [first, ...all, "", ""].join("\r\n")
}
const isError = (status: number, answer: string) => {
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
  assert.match(answer, /\r\ncontent-type: application\/json\r\n/i)
  assert.match(answer, new RegExp(`\\r\\n\\r\\n{"error_code":${status},"message":".+"}$`))
}
const exchange = (bytes: Uint8Array | string) => Effect.flatMap(BaseUrl, (url) => sendBytes(url, bytes))

it.layer(Server, { excludeTestServices: true })("on the wire", (it) => {
  describe("what clients send", () => {
    it.effect("ignores an offer to speak HTTP/2", () =>
      Effect.gen(function*() {
        const answer = yield* exchange(lines(
          "GET /connectors HTTP/1.1",
          "Host: kelpie",
          "Connection: Upgrade, HTTP2-Settings",
          "Upgrade: h2c",
          "HTTP2-Settings: AAMAAABkAAQAAP__"
        ))
        assert.match(answer, /^HTTP\/1\.1 200 /)
        assert.match(answer, /\r\n\r\n\[\]$/)
      }))

    it.effect("ignores it with a body too", () =>
      Effect.gen(function*() {
        const body = "{}"
        const answer = yield* exchange(
          lines(
            "PUT /connectors/x/config HTTP/1.1",
            "Host: kelpie",
            "Connection: Upgrade, HTTP2-Settings",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABkAAQAAP__",
            "Content-Type: application/json",
            `Content-Length: ${body.length}`
          ) + body
        )
        isError(400, answer)
        assert.include(answer, "contains no connector type")
      }))

    it.effect("takes a PUT without a body, a type or a length", () =>
      Effect.map(exchange(lines("PUT /connectors/x/pause HTTP/1.1", "Host: kelpie")), (answer) => isError(404, answer)))

    it.effect("takes a PUT of a length of 0", () =>
      Effect.map(
        exchange(lines("PUT /connectors/x/pause HTTP/1.1", "Host: kelpie", "Content-Length: 0")),
        (answer) => isError(404, answer)
      ))

    it.effect("waits for a body that wants to be asked for", () =>
      Effect.gen(function*() {
        const answer = yield* exchange(
          lines(
            "PUT /connectors/x/config HTTP/1.1",
            "Host: kelpie",
            "Expect: 100-continue",
            "Content-Type: application/json",
            "Content-Length: 2"
          ) + "{}"
        )
        assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
      }))

    it.effect("reads a body in chunks of any size", () =>
      Effect.gen(function*() {
        const answer = yield* exchange(
          lines(
            "PUT /connectors/x/config HTTP/1.1",
            "Host: kelpie",
            "Transfer-Encoding: chunked",
            "Content-Type: application/json"
          ) + "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
        )
        isError(400, answer)
        assert.include(answer, "contains no connector type")
      }))

    it.effect("answers two requests of one connection", () =>
      Effect.gen(function*() {
        const one = lines("GET /connectors HTTP/1.1", "Host: kelpie", "Connection: Keep-Alive")
        const answer = yield* exchange(one + lines("GET /connectors HTTP/1.1", "Host: kelpie"))
        assert.strictEqual(answer.match(/HTTP\/1\.1 200 /g)?.length, 2)
      }))

    it.effect("takes a request line with the whole URL, and tells it back", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ name: "whole", config: { "connector.class": "Scripted" } })
        const answer = yield* exchange(
          lines(
            "POST http://kelpie.example:1234/connectors HTTP/1.1",
            "Host: other",
            "Content-Type: application/json",
            `Content-Length: ${body.length}`
          ) + body
        )
        assert.match(answer, /^HTTP\/1\.1 201 /)
        assert.match(answer, /\r\nlocation: http:\/\/kelpie\.example:1234\/connectors\/whole\r\n/i)
      }))

    it.effect("tells the host that was asked", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ "connector.class": "Scripted" })
        const answer = yield* exchange(
          lines(
            "PUT /connectors/h%20ost/config HTTP/1.1",
            "Host: kelpie.example",
            "Content-Type: application/json",
            `Content-Length: ${body.length}`
          ) + body
        )
        assert.match(answer, /\r\nlocation: http:\/\/kelpie\.example\/connectors\/h%20ost\r\n/i)
      }))
  })

  describe("what is no request", () => {
    it.effect("answers 400 to what is not HTTP", () =>
      Effect.map(exchange("hello\r\n\r\n"), (answer) => isError(400, answer)))

    it.effect("answers 400 to an unknown method", () =>
      Effect.map(exchange(lines("BREW /connectors HTTP/1.1", "Host: kelpie")), (answer) => isError(400, answer)))

    it.effect("answers 431 to a header that is too long", () =>
      Effect.map(
        exchange(lines("GET /connectors HTTP/1.1", "Host: kelpie", `X-Long: ${"a".repeat(20_000)}`)),
        (answer) => isError(431, answer)
      ))

    it.effect("answers 431 to a path that is too long", () =>
      Effect.map(
        exchange(lines(`GET /connectors/${"a".repeat(20_000)} HTTP/1.1`, "Host: kelpie")),
        (answer) => isError(431, answer)
      ))

    it.effect("answers 400 to bytes in a path that are not encoded", () =>
      Effect.map(
        exchange(Buffer.from(lines("GET /connectors/é HTTP/1.1", "Host: kelpie"))),
        (answer) => isError(400, answer)
      ))

    it.effect("answers 404 to OPTIONS *", () =>
      Effect.map(exchange(lines("OPTIONS * HTTP/1.1", "Host: kelpie")), (answer) => isError(404, answer)))

    it.effect("answers 400 to a body that ends too early", () =>
      Effect.map(
        exchange(
          lines(
            "PUT /connectors/x/config HTTP/1.1",
            "Host: kelpie",
            "Transfer-Encoding: chunked",
            "Content-Type: application/json"
          ) + "zz\r\n"
        ),
        (answer) => assert.match(answer, /^HTTP\/1\.1 400 /)
      ))
  })

  const isFine = (
    { status, text, json }: { readonly status: number; readonly text: string; readonly json: unknown }
  ) => {
    assert.isBelow(status, 500, text)
    if (status >= 400 && text !== "") assert.hasAllKeys(json, ["error_code", "message"])
  }
  const Methods = Schema.Literals(["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"])
  /** Paths of the API with any text where names stand, and any path. */
  const Paths = Schema.Union([
    Schema.TemplateLiteral(["/", Schema.String]),
    Schema.TemplateLiteral(["/connectors/", Schema.String]),
    Schema.TemplateLiteral([
      "/connectors/",
      Schema.String,
      "/",
      Schema.Literals(["config", "status", "tasks", "restart"])
    ]),
    Schema.TemplateLiteral(["/connectors/a/tasks/", Schema.String, "/status"]),
    Schema.TemplateLiteral(["/connectors?expand=", Schema.String]),
    Schema.TemplateLiteral(["/connector-plugins/", Schema.String, "/config"])
  ])
  /** What may stand in a request line: all but white space and control characters, percent signs included. */
  const printable = (path: string) =>
    path.replace(/[^\x21-\x7e]/g, (c) => encodeURIComponent(c.isWellFormed() ? c : "%"))

  it.effect.prop(
    "answers any path without a fault",
    { method: Methods, path: Paths },
    ({ method, path }) =>
      Effect.flatMap(
        BaseUrl,
        (url) =>
          Effect.map(send(url, { method, path: printable(path), body: method === "PUT" ? {} : undefined }), isFine)
      ),
    { arbitrary: { runs: 300 }, timeout: 60_000 }
  )

  it.effect.prop(
    "answers any bytes in a path without a fault",
    { bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))) },
    ({ bytes }) =>
      Effect.map(
        exchange(Buffer.concat([
          Buffer.from("GET /connectors/"),
          Uint8Array.from(bytes),
          Buffer.from(lines(" HTTP/1.1", "Host: kelpie"))
        ])),
        (answer) => assert.notMatch(answer, /^HTTP\/1\.1 5/)
      ),
    { arbitrary: { runs: 100 }, timeout: 60_000 }
  )

  const targets = [["POST", "/connectors"], ["PUT", "/connectors/a/config"], ["PATCH", "/connectors/a/config"], [
    "PUT",
    "/connector-plugins/Scripted/config/validate"
  ]] as const

  it.effect.prop(
    "answers any JSON for a body without a fault",
    { at: Schema.Literals([0, 1, 2, 3]), body: Schema.Json },
    ({ at, body }) =>
      Effect.flatMap(
        BaseUrl,
        (url) =>
          Effect.map(send(url, { method: targets[at][0], path: targets[at][1], body: JSON.stringify(body) }), isFine)
      ),
    { arbitrary: { runs: 200 }, timeout: 60_000 }
  )

  it.effect.prop(
    "answers any member of a create without a fault",
    {
      name: Schema.Json,
      config: Schema.Union([Schema.Json, Schema.Record(Schema.String, Schema.Json)]),
      state: Schema.Json,
      scripted: Schema.Boolean
    },
    ({ config, name, scripted, state }) =>
      Effect.flatMap(BaseUrl, (url) =>
        Effect.map(
          send(url, {
            method: "POST",
            path: "/connectors",
            body: {
              name,
              initial_state: state,
              config: scripted && typeof config === "object" ? { ...config, "connector.class": "Scripted" } : config
            }
          }),
          isFine
        )),
    { arbitrary: { runs: 200 }, timeout: 60_000 }
  )

  it.effect.prop(
    "answers any bytes for a body without a fault",
    {
      bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))),
      at: Schema.Literals([0, 1, 2, 3])
    },
    ({ at, bytes }) =>
      Effect.flatMap(BaseUrl, (url) =>
        Effect.map(
          send(url, {
            method: targets[at][0],
            path: targets[at][1],
            body: Uint8Array.from(bytes),
            headers: { "content-type": "application/json" }
          }),
          (answer) => {
            assert.strictEqual(answer.status, 400)
            isFine(answer)
          }
        )),
    { arbitrary: { runs: 100 }, timeout: 60_000 }
  )
})
