import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as DateFormat from "../src/internal/dateFormat.ts"

const compiled = (pattern: string) => Result.getOrThrow(DateFormat.compile(pattern))
const parse = (pattern: string, text: string) => compiled(pattern).parse(text)
const at = (year: number, month: number, day = 1, hour = 0, minute = 0, second = 0, milli = 0) =>
  Date.UTC(year, month - 1, day, hour, minute, second, milli)

const noon = at(2024, 3, 5, 12, 7, 9, 8)

describe("dateFormat writes", () => {
  const cases: ReadonlyArray<readonly [pattern: string, millis: number, text: string]> = [
    ["y yy yyy yyyy yyyyy", noon, "2024 24 2024 2024 02024"],
    ["M MM MMM MMMM", noon, "3 03 Mar March"],
    ["d dd ddd", noon, "5 05 005"],
    ["H HH h hh a", at(2024, 3, 5, 0), "0 00 12 12 AM"],
    ["H HH h hh a", noon, "12 12 12 12 PM"],
    ["H HH h hh aa", at(2024, 3, 5, 15), "15 15 3 03 PM"],
    ["m mm s ss S SSS SSSSSS", noon, "7 07 9 09 8 008 000008"],
    ["E EEE EEEE", noon, "Tue Tue Tuesday"],
    ["z Z X XX XXX", noon, "UTC +0000 Z Z Z"],
    ["zzzz", noon, "Coordinated Universal Time"],
    ["HH 'o''clock' ''", noon, "12 o'clock '"],
    ["'T'''", noon, "T'"],
    ["yyyy-MM-dd", -1, "1969-12-31"]
  ]
  for (const [pattern, millis, text] of cases) {
    it(`${pattern} as ${text}`, () => assert.strictEqual(compiled(pattern).format(millis), text))
  }
})

describe("dateFormat reads", () => {
  const cases: ReadonlyArray<readonly [pattern: string, text: string, millis: number | undefined]> = [
    ["yyyy-MM-dd", "2020-02-29", at(2020, 2, 29)],
    ["yyyy-MM-dd", "2020-2-9", at(2020, 2, 9)],
    ["yyyy-MM-dd", "2020-02-29T10:00", at(2020, 2, 29)],
    ["yyyy-MM-dd", "2020-13-32", at(2021, 2, 1)],
    ["yyyy-MM-dd", "x2020-01-01", undefined],
    ["yyyy-MM-dd", "2020-01", undefined],
    ["yyyy-MM-dd", " 2020- 1-\t2", at(2020, 1, 2)],
    ["yyyyMMddHHmmss", "20200229101112", at(2020, 2, 29, 10, 11, 12)],
    ["yyyyMMdd", "2020022", at(2020, 2, 2)],
    ["HHmm", "930", at(1970, 1, 1, 93, 0)],
    ["yyyy", "0001", new Date("0001-01-01").getTime()],
    ["yy", "45", at(2045, 1)],
    ["yy", "46", at(1946, 1)],
    ["yy", "1999", at(1999, 1)],
    ["d MMM yyyy", "5 mar 2020", at(2020, 3, 5)],
    ["d MMMM yyyy", "5 MARCH 2020", at(2020, 3, 5)],
    ["d MMM yyyy", "5 xyz 2020", undefined],
    ["EEE, d MMM yyyy", "Monday, 5 May 2020", at(2020, 5, 5)],
    ["EEE", "someday", undefined],
    ["hh:mm a", "12:30 am", at(1970, 1, 1, 0, 30)],
    ["hh:mm a", "12:30 PM", at(1970, 1, 1, 12, 30)],
    ["hh:mm a", "03:30 pm", at(1970, 1, 1, 15, 30)],
    ["hh:mm a", "03:30 xx", undefined],
    ["HH:mm", "25:61", at(1970, 1, 2, 2, 1)],
    ["s.S", "1.5", 1005],
    ["s.SSSSSS", "1.500000", 501_000],
    ["HHX", "10Z", at(1970, 1, 1, 10)],
    ["HHX", "10+02", at(1970, 1, 1, 8)],
    ["HHXX", "10-0230", at(1970, 1, 1, 12, 30)],
    ["HHXXX", "10+05:30", at(1970, 1, 1, 4, 30)],
    ["HHXXX", "10+0530", undefined],
    ["HH z", "10 GMT", at(1970, 1, 1, 10)],
    ["HH z", "10 GMT-2:00", at(1970, 1, 1, 12)],
    ["HH z", "10 GMT+2", undefined],
    ["HH z", "10 EST", at(1970, 1, 1, 15)],
    ["HH z", "10 utc", at(1970, 1, 1, 10)],
    ["HH z", "10 XYZ", undefined],
    ["HH Z", "10 +0100", at(1970, 1, 1, 9)],
    ["HH Z", "10 -2500", undefined],
    ["H'h'", "7h", at(1970, 1, 1, 7)],
    ["H'h'", "7", undefined],
    ["yyyy", "99999999", undefined]
  ]
  for (const [pattern, text, millis] of cases) {
    it(`"${text}" by ${pattern}`, () => assert.strictEqual(parse(pattern, text), millis))
  }
})

describe("dateFormat", () => {
  it("refuses letters that it does not know, open quotes and too long offsets", () => {
    for (const pattern of ["YYYY", "yyyy-ww", "k", "G", "'T", "yyyy''T'", "XXXX"]) {
      assert.isTrue(Result.isFailure(DateFormat.compile(pattern)), pattern)
    }
  })
})
