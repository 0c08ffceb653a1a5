/**
 * Text to UTF-8 bytes and back, for functions that run once per record.
 *
 * Short texts are written into a shared block of memory and a view on it is given: allocating one buffer per record costs
 * more than the encoding itself. So `bytes.buffer` may hold other records: copy the bytes before transferring it.
 */

const encoder = new TextEncoder()
const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder("utf-8", { ignoreBOM: true })

const blockBytes = 32 * 1024
const longestShared = 1024
let block = new Uint8Array(0)
let used = 0

/** The UTF-8 bytes of a text; half surrogate pairs become U+FFFD. */
export const encode = (text: string): Uint8Array => {
  if (text.length > longestShared) return encoder.encode(text)
  // Three bytes are the most that one UTF-16 unit takes. A block that somebody transferred has no bytes left.
  if (block.length - used < text.length * 3) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const end = used + encoder.encodeInto(text, block.subarray(used)).written
  const bytes = block.subarray(used, end)
  used = end
  return bytes
}

/** The text of UTF-8 bytes; what is not UTF-8 becomes U+FFFD, a byte order mark is kept. */
export const decode = (bytes: Uint8Array): string => lenient.decode(bytes)

/** The text of UTF-8 bytes without its byte order mark; throws a `TypeError` when it is not UTF-8. */
export const decodeStrict = (bytes: Uint8Array): string => strict.decode(bytes)
