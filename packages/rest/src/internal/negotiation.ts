/** What a request says about media types. */

/** `type/subtype` and the parameters, in lower case but for values. */
const parse = (text: string): { readonly type: string; readonly parameters: ReadonlyMap<string, string> } => {
  const [type = "", ...rest] = text.split(";")
  const parameters = rest.map((part) => {
    const [name = "", value = ""] = part.split("=", 2)
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")] as const
  })
  return { type: type.trim().toLowerCase(), parameters: new Map(parameters) }
}

/** Whether an `Accept` header takes a media type. Absent or empty, it takes everything. */
export const accepts = (header: string | undefined, type: string): boolean => {
  if (header === undefined || header.trim() === "") return true
  const [family = ""] = type.split("/")
  return header.split(",").some((range) => {
    const { parameters, type: wanted } = parse(range)
    const quality = Number(parameters.get("q") ?? "1")
    // `*` alone is what Java's own client sends
    return quality > 0 && (wanted === type || wanted === `${family}/*` || wanted === "*/*" || wanted === "*")
  })
}

/** Whether a `Content-Type` header is JSON in UTF-8. Parameters are allowed. */
export const isJson = (header: string | undefined): boolean => {
  const { parameters, type } = parse(header ?? "")
  return type === "application/json" && /^(?:utf-?8|us-ascii)?$/i.test(parameters.get("charset") ?? "")
}
