import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { lastLine, takeLines } from "../src/internal/lines.ts"

// bytes that matter: line ends, ASCII, and pieces of longer UTF-8 sequences, whole and broken
const byte = Schema.Literals([10, 10, 13, 65, 66, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0xef, 0xbb, 0xbf, 0xff])
const bytes = Schema.Array(byte)
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Line by line, the obvious way. */
const reference = (input: Buffer): Array<string> => {
  const lines: Array<string> = []
  let start = 0
  for (let i = 0; i < input.length; i++) {
    if (input[i] !== 10) continue
    const end = i > start && input[i - 1] === 13 ? i - 1 : i
    lines.push(decoder.decode(input.subarray(start, end)))
    start = i + 1
  }
  return lines
}

describe("takeLines", () => {
  it.prop(
    "gives the same lines in batches of any size as one line at a time",
    { bytes, size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })) },
    ({ bytes, size }) => {
      const input = Buffer.from(bytes)
      const lines: Array<string> = []
      let next = 0
      for (;;) {
        const taken = takeLines(input, next, size, 1000)
        assert.isAtMost(taken.lines.length, size)
        assert.isFalse(taken.tooLong)
        if (taken.lines.length === 0) break
        assert.strictEqual(input[taken.next - 1], 10)
        lines.push(...taken.lines)
        next = taken.next
      }
      assert.deepStrictEqual(lines, reference(input))
      assert.strictEqual(next, input.lastIndexOf(10) + 1)
      assert.strictEqual(lastLine(input, next).length, next < input.length ? 1 : 0)
    }
  )

  it("keeps a carriage return inside a line and a byte order mark", () => {
    assert.deepStrictEqual(takeLines(Buffer.from("\ufeffa\rb\r\n\r\nc\n"), 0, 9, 100).lines, ["\ufeffa\rb", "", "c"])
  })

  it("gives the lines before a line that is too long, then says so, with and without its end", () => {
    const first = takeLines(Buffer.from("a\n12345\n"), 0, 9, 4)
    assert.deepStrictEqual(first, { lines: ["a"], next: 2, tooLong: true })
    assert.deepStrictEqual(takeLines(Buffer.from("a\n12345"), 2, 9, 4), { lines: [], next: 2, tooLong: true })
    assert.isFalse(takeLines(Buffer.from("1234\r\n"), 0, 9, 4).tooLong)
    assert.isFalse(takeLines(Buffer.from("1234\r"), 0, 9, 4).tooLong)
    assert.isTrue(takeLines(Buffer.from("12345\r"), 0, 9, 4).tooLong)
  })
})
