/** Reads what a request asks for: the decoded segments of its path, and its query. */
import * as Result from "effect/Result"
import * as Refusal from "./refusal.ts"

/** The path below the prefix, and the query. */
export interface Target {
  readonly segments: ReadonlyArray<string>
  readonly query: Readonly<Record<string, string | Array<string>>>
}

/** Whether a path is the prefix or below it. */
export const isBelow = (path: string, prefix: string): boolean =>
  path.toLowerCase().startsWith(prefix.toLowerCase()) && (path.length === prefix.length || path[prefix.length] === "/")

/** The path of a request target, without query and fragment. */
export const pathOf = (url: string): string => url.replace(/[?#].*$/s, "")

/**
 * Splits first and decodes then, so that a name may hold any character. One slash at the end does not count.
 * Bytes beyond ASCII have to be encoded: what arrives unencoded has lost its character set.
 */
export const parse = (url: string, prefix: string): Result.Result<Target, Refusal.Refusal> => {
  const path = pathOf(url)
  if (!isBelow(path, prefix)) return Result.fail(Refusal.notFound)
  const below = path.slice(prefix.length).replace(/\/$/, "")
  if (/[^\x21-\x7e]/.test(below)) return Result.fail(Refusal.malformedPath)
  return Result.mapBoth(
    Result.try(() => below.split("/").slice(1).map(decodeURIComponent)),
    {
      onSuccess: (segments) => ({ segments, query: parseQuery(url) }),
      onFailure: () => Refusal.malformedPath
    }
  )
}

const parseQuery = (url: string): Target["query"] => {
  const query = new Map<string, string | Array<string>>()
  const start = url.indexOf("?")
  for (const [key, value] of new URLSearchParams(start < 0 ? "" : url.slice(start + 1).replace(/#.*$/s, ""))) {
    const before = query.get(key)
    query.set(key, before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value])
  }
  return Object.fromEntries(query)
}
