/** Base64 as Connect writes bytes in JSON: the standard alphabet, padded, one line. */

/** Arguments of one call; engines bound their number. */
const chunk = 8192

/** Bytes as base64. */
export const encode = (bytes: Uint8Array): string => {
  let binary = ""
  for (let i = 0; i < bytes.length; i += chunk) {
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(i, i + chunk))
  }
  return btoa(binary)
}

const binaryOf = (text: string): string | undefined => {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}

/** The bytes of base64; `undefined` when the text is not base64. White space and missing padding are accepted. */
export const decode = (text: string): Uint8Array | undefined => {
  const binary = binaryOf(text)
  if (binary === undefined) return undefined
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
