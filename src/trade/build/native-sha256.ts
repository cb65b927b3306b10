import { hash } from "node:crypto";

/** SHA-256 by Node's own library. Its "binary" text, one character per byte, takes half the time of its bytes. */
export function nativeSha256(bytes: Uint8Array): Uint8Array {
  const text = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) digest[i] = text.charCodeAt(i);
  return digest;
}
