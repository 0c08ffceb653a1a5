/** Ranges of versions as Connect's `plugin.version` keys write them: `1.2`, `[1.0,2.0)`, `(,1.5]`, `latest`. */

/** Nobody writes longer ones, and longer ones could take long to read. */
const maxLength = 200

interface Range {
  readonly low: string
  readonly high: string
  readonly lowIncluded: boolean
  readonly highIncluded: boolean
}

/** Numbers are compared as numbers; a qualifier such as `-rc1` comes before the version without it. */
const compare = (a: string, b: string): number => {
  const left = a.split(/[.-]/)
  const right = b.split(/[.-]/)
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareParts(left[i], right[i])
    if (order !== 0) return order
  }
  return 0
}

const isNumber = (part: string): boolean => /^\d+$/.test(part)

const compareParts = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined) return b === undefined ? 0 : -compareParts(b, a)
  if (isNumber(a)) return b === undefined || isNumber(b) ? Number(a) - Number(b ?? 0) : 1
  return b === undefined || isNumber(b) ? -1 : a < b ? -1 : a > b ? 1 : 0
}

const includes = (range: Range, version: string): boolean => {
  const low = range.low === "" ? 1 : compare(version, range.low)
  const high = range.high === "" ? -1 : compare(version, range.high)
  return (low > 0 || (low === 0 && range.lowIncluded)) && (high < 0 || (high === 0 && range.highIncluded))
}

const parse = (text: string): ReadonlyArray<Range> | undefined => {
  const ranges: Array<Range> = []
  let rest = text.trim()
  while (rest !== "") {
    const match = /^([[(])\s*([^[\](),\s]*)\s*(,\s*([^[\](),\s]*)\s*)?([\])])\s*,?\s*/.exec(rest)
    if (match === null) return undefined
    const [whole, open, low = "", comma, high = "", close] = match
    ranges.push({
      low,
      high: comma === undefined ? low : high,
      lowIncluded: open === "[",
      highIncluded: close === "]"
    })
    rest = rest.slice(whole.length)
  }
  return ranges
}

/** Whether a version is asked for by a text; `undefined` when the text is no range. A bare version means exactly it. */
export const accepts = (text: string, version: string): boolean | undefined => {
  const wanted = text.trim()
  if (wanted.length > maxLength) return undefined
  if (wanted === "latest") return true
  if (wanted === "") return false
  if (!/[[\](),]/.test(wanted)) return compare(wanted, version) === 0
  return parse(wanted)?.some((range) => includes(range, version))
}

/** The text as a range, for errors: `[1.2,1.2]` for `1.2`. */
export const format = (text: string): string => {
  const wanted = text.trim()
  return wanted === "" ? "[,]" : /[[\](),]/.test(wanted) ? wanted : `[${wanted},${wanted}]`
}
