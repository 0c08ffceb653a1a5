/**
 * Signatures of requests between workers: HMAC-SHA-256 over everything that decides what a request does.
 *
 * The body is signed by its digest, which travels along: a request is known to be genuine before its body is read.
 */
import type { SessionKeys } from "@kelpie/core/SessionKeys"
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { timingSafeEqual } from "effect/crypto/Mac"
import * as Redacted from "effect/Redacted"

/** The headers of a signed request. */
export const headers = {
  key: "x-kelpie-key",
  timestamp: "x-kelpie-timestamp",
  nonce: "x-kelpie-nonce",
  digest: "x-kelpie-digest",
  signature: "x-kelpie-signature"
} as const

/** What is asked of whom; the path is the one below the prefix, which a proxy may change. */
export interface Target {
  readonly method: string
  readonly path: string
}

/** What a request says about itself. */
export interface Claims {
  readonly keyId: string
  /** When it was signed, by the sender's clock. */
  readonly timestampMillis: number
  /** Drawn for this request. */
  readonly nonce: string
  /** SHA-256 of the body, in hexadecimal. */
  readonly digest: string
}

/** Claims with their signature, in hexadecimal. */
export interface Signed extends Claims {
  readonly signature: string
}

const canonical = ({ method, path }: Target, { digest, keyId, nonce, timestampMillis }: Claims): string =>
  // the first line is the version: a key signs nothing else that reads the same
  ["kelpie-request-1", method, path, timestampMillis, nonce, keyId, digest].join("\n")

const mac = (secret: Redacted.Redacted, target: Target, claims: Claims): Uint8Array =>
  hmac(sha256, utf8ToBytes(Redacted.value(secret)), utf8ToBytes(canonical(target, claims)))

/** What `Claims.digest` is of a body. */
export const digestOf = (body: Uint8Array): string => bytesToHex(sha256(body))

/** The headers that sign a request. */
export const sign = (
  key: SessionKeys.Key,
  target: Target,
  { body, nonce, timestampMillis }: {
    readonly body: Uint8Array
    readonly nonce: string
    readonly timestampMillis: number
  }
): Readonly<Record<string, string>> => {
  const claims: Claims = { keyId: key.id, timestampMillis, nonce, digest: digestOf(body) }
  return {
    [headers.key]: claims.keyId,
    [headers.timestamp]: `${claims.timestampMillis}`,
    [headers.nonce]: claims.nonce,
    [headers.digest]: claims.digest,
    [headers.signature]: bytesToHex(mac(key.secret, target, claims))
  }
}

const formats = {
  key: /^[\x21-\x7e]{1,200}$/,
  // one text for each number, and all of them exact
  timestamp: /^(?:0|[1-9]\d{0,14})$/,
  nonce: /^[0-9a-f]{32}$/,
  digest: /^[0-9a-f]{64}$/,
  signature: /^[0-9a-f]{64}$/
}

/** Reads the headers; `undefined` when one is missing or of another form. */
export const read = (given: Readonly<Record<string, string | undefined>>): Signed | undefined => {
  const text = (name: keyof typeof headers): string | undefined => {
    const value = given[headers[name]]
    return value !== undefined && formats[name].test(value) ? value : undefined
  }
  const [keyId, timestamp, nonce, digest, signature] = [
    text("key"),
    text("timestamp"),
    text("nonce"),
    text("digest"),
    text("signature")
  ]
  return keyId === undefined || timestamp === undefined || nonce === undefined || digest === undefined ||
      signature === undefined
    ? undefined
    : { keyId, timestampMillis: Number(timestamp), nonce, digest, signature }
}

/** Whether whoever knows the secret has signed this; takes the same time for every wrong signature. */
export const isGenuine = (secret: Redacted.Redacted, target: Target, signed: Signed): boolean =>
  timingSafeEqual(mac(secret, target, signed), hexToBytes(signed.signature))
