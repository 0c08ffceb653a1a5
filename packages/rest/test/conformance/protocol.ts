import { absent, del, exactly, get, patch, post, put, scripted, type Step, type Theme } from "./Theme.ts"

const notFound = "HTTP 404 Not Found"
const missing = (path: string, more: Partial<Step> = {}): Step => ({
  name: `no path: ${path}`,
  request: get(path),
  status: 404,
  message: notFound,
  ...more
})
const refused = (method: string, path: string, allow: string): Step => ({
  name: `${method} ${path}`,
  request: { method, path },
  status: 405,
  message: "HTTP 405 Method Not Allowed",
  headers: { allow }
})
const accepting = (accept: string, status: number): Step => ({
  name: `Accept: ${accept}`,
  request: get("/connectors", undefined, { accept }),
  status
})
const list = "GET, HEAD, POST, OPTIONS"
const malformed = /^The path is not well formed/

export const protocol: Theme = {
  title: "paths, methods and headers",
  connectors: ["pr-a"],
  steps: [
    missing("/nope"),
    missing("/connectors/a/b/c"),
    missing("/nope", { name: "no path, with a body", request: post("/nope", { a: 1 }) }),
    missing("/nope", { name: "no path, for a browser", request: get("/nope", undefined, { accept: "text/html" }) }),
    missing("/favicon.ico"),
    missing("/CONNECTORS"),
    missing("//connectors", { differs: "Connect answers 400 in another shape" }),
    missing("/connectors//", { differs: "Connect answers 400 in another shape" }),
    missing("/connectors//config", { differs: "Connect answers 400 in another shape" }),
    missing("/connectors/../connectors"),
    missing("/connectors/%2e%2e/connectors", { differs: "Connect answers 400 in another shape" }),
    { name: "one slash at the end", request: get("/connectors/"), status: 200 },
    { name: "an encoded path", request: get("/%63onnectors"), status: 200 },
    refused("DELETE", "/connectors", list),
    refused("PUT", "/", "GET, HEAD, OPTIONS"),
    refused("POST", "/connectors/x", "GET, HEAD, DELETE, OPTIONS"),
    refused("PATCH", "/connectors/x", "GET, HEAD, DELETE, OPTIONS"),
    refused("DELETE", "/connectors/x/config", "GET, HEAD, PUT, PATCH, OPTIONS"),
    refused("TRACE", "/connectors", list),
    refused("PROPFIND", "/connectors", list),
    { name: "OPTIONS", request: { method: "OPTIONS", path: "/connectors" }, status: 200, headers: { allow: list } },
    { name: "OPTIONS of no path", request: { method: "OPTIONS", path: "/nope" }, status: 404 },
    {
      name: "a preflight, without CORS",
      request: {
        method: "OPTIONS",
        path: "/connectors",
        headers: { origin: "http://example.org", "access-control-request-method": "POST" }
      },
      status: 200,
      headers: { "access-control-allow-origin": "" }
    },
    {
      name: "HEAD",
      request: { method: "HEAD", path: "/" },
      status: 200,
      headers: { "content-type": "application/json" }
    },
    {
      name: "HEAD of nobody",
      request: { method: "HEAD", path: "/connectors/pr-nobody" },
      status: 404,
      headers: { "content-type": "application/json" }
    },
    accepting("text/html", 406),
    accepting("text/html,application/xhtml+xml,*/*;q=0.8", 200),
    accepting("application/*", 200),
    accepting("*/*", 200),
    accepting("*", 200),
    accepting("application/json; charset=utf-8", 200),
    accepting("text/plain;q=0.5, application/json;q=0.1", 200),
    { ...accepting("application/json;q=0", 406), differs: "Connect answers 200" },
    { name: "no Accept", request: get("/connectors", undefined, {}), status: 200 },
    {
      name: "an error for whom JSON does not do",
      request: get("/connectors/pr-nobody", undefined, { accept: "text/plain" }),
      status: 406,
      message: /^HTTP 406 Not Acceptable/
    },
    { name: "Accept-Encoding", request: get("/connectors", undefined, { "accept-encoding": "gzip" }), status: 200 },
    {
      name: "an empty Authorization",
      request: get("/connectors", undefined, { authorization: "Basic Og==" }),
      status: 200
    },
    {
      name: "a JSON content type without a body",
      request: get("/connectors", undefined, { "content-type": "application/json" }),
      status: 200
    },
    { name: "GET with a body", request: get("/connectors", { a: 1 }), status: 200 },
    {
      name: "DELETE with a text for a body",
      request: del("/connectors/pr-nobody", "x", { "content-type": "text/plain" }),
      status: 404,
      message: "Connector pr-nobody not found",
      differs: "Connect answers 415"
    },
    { name: "an unknown query parameter", request: get("/connectors?foo=bar"), status: 200 },
    { name: "a broken encoding in an unknown query parameter", request: get("/connectors?foo=%zz"), status: 200 },
    ...["%zz", "%", "%4", "%ff", "%c3", "a%ffb", "%ed%a0%80"].flatMap((name) =>
      [
        get(`/connectors/${name}`),
        get(`/connectors/${name}/status`),
        put(`/connectors/${name}/config`, scripted()),
        get(`/${name}`)
      ].map(
        (request) => ({
          name: `${request.method} ${request.path}`,
          request,
          status: 400,
          message: malformed,
          differs: "Connect answers HTML, or nothing"
        })
      )
    ),
    { name: "NUL in a path", request: get("/connectors/%00"), status: 404, differs: "Connect answers HTML" },
    {
      name: "PUT of a name with NUL",
      request: put("/connectors/a%00b/config", scripted()),
      status: 400,
      message: /String may not contain control sequences/
    },
    { name: "a blank name", request: get("/connectors/%20"), status: 404, message: "Connector   not found" },
    {
      name: "a content type with parameters",
      request: put("/connectors/pr-a/config", scripted(), { "content-type": "application/json; charset=utf-8" }),
      status: 201
    },
    {
      name: "in capitals and quotes",
      request: put("/connectors/pr-a/config", scripted(), { "content-type": "Application/JSON;Charset=\"UTF-8\"" }),
      status: 200
    },
    {
      name: "another character set",
      request: put("/connectors/pr-a/config", scripted(), { "content-type": "application/json; charset=utf-16" }),
      status: 415
    },
    {
      name: "a compressed body",
      request: put("/connectors/pr-a/config", scripted(), {
        "content-type": "application/json",
        "content-encoding": "gzip"
      }),
      status: 415,
      message: /Content-Encoding/
    },
    {
      name: "a body that is no UTF-8",
      request: put("/connectors/pr-a/config", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), {
        "content-type": "application/json"
      }),
      status: 400,
      message: "The body is not valid UTF-8"
    },
    {
      name: "a body with a byte order mark",
      request: put("/connectors/pr-a/config", `\uFEFF${JSON.stringify(scripted())}`),
      status: 200
    },
    {
      name: "a body in chunks",
      request: {
        ...patch("/connectors/pr-a/config", { topic: "other" }, { "content-type": "application/json" }),
        chunkBytes: 3
      },
      status: 200,
      body: { config: { topic: "other" } }
    },
    {
      name: "a body in chunks, beyond the limit",
      request: {
        ...patch("/connectors/pr-a/config", { topic: "x".repeat(1024 * 1024) }, { "content-type": "application/json" }),
        chunkBytes: 65536
      },
      status: 413,
      message: /1048576 bytes/
    },
    {
      name: "what was sent is not quoted",
      request: put("/connectors/pr-a/config", "{\"token\": s3cret}"),
      status: 400,
      body: exactly({ error_code: 400, message: "The body is not valid JSON" })
    },
    {
      name: "errors have no more members",
      request: get("/connectors/pr-nobody"),
      status: 404,
      body: { trace: absent, url: absent }
    }
  ]
}
