import { hash } from "node:crypto";

/**
 * SHA-256 by Node's own library. Its "binary" text, one character per byte, takes half the time of its bytes.
 *
 * @param digest takes the 32 bytes; a new array if it is absent
 */
export function nativeSha256(bytes: Uint8Array, digest: Uint8Array = new Uint8Array(32)): Uint8Array {
  const text = hash("sha256", bytes, "binary");
  for (let i = 0; i < text.length; i++) digest[i] = text.charCodeAt(i);
  return digest;
}
