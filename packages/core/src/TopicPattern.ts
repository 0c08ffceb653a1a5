/** Regular expressions over topic names, as configurations write them. */
import * as Result from "effect/Result"

/** Compiles a pattern that has to match the whole name; flags may stand in front, as in `(?i)orders-.*`. */
export const compile = (regex: string): Result.Result<RegExp, string> => {
  const [whole = "", flags = ""] = /^\(\?([ims]+)\)/.exec(regex) ?? []
  const body = regex.slice(whole.length)
  const attempt = (mode: string) =>
    Result.try({
      try: () => {
        // alone first: "a)|(b" would become valid between the parentheses
        void new RegExp(body, mode)
        return new RegExp(`^(?:${body})$`, mode)
      },
      // what the engine says without the pattern, which may be the value of a variable
      catch: (cause) => `Invalid regex: ${String(cause).replace(/^.*\/[a-z]*: /s, "")}`
    })
  const unique = [...new Set(flags)].join("")
  // some patterns that Java accepts, such as `a\-b`, are errors in the stricter mode only
  return Result.orElse(attempt(`${unique}u`), () => attempt(unique))
}

/** Why a pattern is refused. */
export const check = (regex: string): string | undefined =>
  Result.match(compile(regex), { onFailure: (reason) => reason, onSuccess: () => undefined })
