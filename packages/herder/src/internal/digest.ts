/** Keyed hashes of resolved configurations: they tell that a secret rotated and tell nothing of the secret. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** JSON with sorted members, so that equal values are equal texts. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`
}

/** The digest of a value under the key of one incarnation of one cluster. */
export const digest = (key: string, value: unknown): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(key), utf8ToBytes(canonical(value)))).slice(0, 32)
