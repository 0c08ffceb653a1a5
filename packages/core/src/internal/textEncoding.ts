/**
 * Text encodings by name. The platform reads many and writes UTF-8 only, so the others are written here: UTF-16, and every
 * encoding of one byte per character by turning the platform's decoder round.
 */
import { refuse } from "./typeName.ts"
import * as Utf8 from "./utf8.ts"

/** Text to bytes and back. What an encoding does not have becomes `?`, or U+FFFD on the way back, as in Java. */
export interface TextEncoding {
  readonly encode: (text: string) => Uint8Array
  readonly decode: (bytes: Uint8Array) => string
}

const questionMark = 63

/** An encoding whose first characters are those of Unicode. The platform reads these names as Windows-1252. */
const firstCharacters = (count: number): TextEncoding => ({
  encode: (text) => {
    const codes = Array.from(text, (char) => char.codePointAt(0) ?? questionMark)
    return Uint8Array.from(codes, (code) => code < count ? code : questionMark)
  },
  decode: (bytes) => {
    let text = ""
    for (const byte of bytes) text += byte < count ? String.fromCharCode(byte) : "\ufffd"
    return text
  }
})

const utf16 = (littleEndian: boolean, mark: boolean): TextEncoding => {
  const decoders = {
    little: new TextDecoder("utf-16le", { ignoreBOM: !mark }),
    big: new TextDecoder("utf-16be", { ignoreBOM: !mark })
  }
  return {
    encode: (text) => {
      const units = mark ? `\ufeff${text}` : text
      const view = new DataView(new ArrayBuffer(units.length * 2))
      for (let i = 0; i < units.length; i++) view.setUint16(i * 2, units.charCodeAt(i), littleEndian)
      return new Uint8Array(view.buffer)
    },
    decode: (bytes) => {
      const little = mark ? bytes[0] === 0xff && bytes[1] === 0xfe : littleEndian
      return (little ? decoders.little : decoders.big).decode(bytes)
    }
  }
}

const severalBytes = new Set([
  "big5",
  "euc-jp",
  "euc-kr",
  "gb18030",
  "gbk",
  "iso-2022-jp",
  "replacement",
  "shift_jis"
])

const ofPlatform = (name: string): TextEncoding | undefined => {
  const decoder = decoderOf(name)
  if (decoder === undefined) return undefined
  const decode = (bytes: Uint8Array): string => decoder.decode(bytes)
  if (decoder.encoding === "utf-8") return { encode: Utf8.encode, decode: Utf8.decode }
  if (severalBytes.has(decoder.encoding)) {
    return {
      decode,
      encode: () => refuse("", "an encoding that can be written", `${decoder.encoding}, which can only be read`)
    }
  }
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decode(Uint8Array.of(byte)), byte]))
  bytes.delete("\ufffd")
  return { decode, encode: (text) => Uint8Array.from(Array.from(text, (char) => bytes.get(char) ?? questionMark)) }
}

const decoderOf = (name: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(name)
  } catch {
    return undefined
  }
}

/** The encoding of that name; Java's names first, then those of `TextDecoder`. `undefined` when there is none. */
export const textEncoding = (name: string): TextEncoding | undefined => {
  switch (name.toLowerCase().replace(/[^a-z0-9]/g, "")) {
    case "utf8":
      return { encode: Utf8.encode, decode: Utf8.decode }
    case "iso88591":
    case "latin1":
      return firstCharacters(256)
    case "usascii":
    case "ascii":
      return firstCharacters(128)
    case "utf16":
      return utf16(false, true)
    case "utf16be":
      return utf16(false, false)
    case "utf16le":
      return utf16(true, false)
    default:
      return ofPlatform(name)
  }
}
