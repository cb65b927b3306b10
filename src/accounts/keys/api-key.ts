import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { RandomBytes } from "../../primitives/random.ts";

const PREFIX = "api_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
/** The first characters identify the key in listings and in the database; the remaining 24 are 142 bits of secret. */
const KEY_ID_LENGTH = 8;
const KEY_LENGTH = PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH;
const KEY_ID = new RegExp(`^[0-9A-Za-z]{${KEY_ID_LENGTH}}$`);
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** Creates an API key: `api_`, 32 random base62 characters, and their checksum of 6. */
export function createApiKey(randomBytes: RandomBytes): string {
  const secret = randomBase62(SECRET_LENGTH, randomBytes);
  return PREFIX + secret + checksum(secret);
}

/** The public part of a well-formed key, shown in listings and used to revoke. */
export function keyIdOf(apiKey: string): string {
  return apiKey.slice(PREFIX.length, PREFIX.length + KEY_ID_LENGTH);
}

/** True if the text has the form of a key's public part. */
export function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}

/**
 * Detects a mistyped key by its form and checksum, without a look-up.
 *
 * @throws TradewireError AUTH_ERROR: missing, malformed or mistyped
 */
export function checkApiKey(text: string): void {
  if (text === "") {
    throw new TradewireError(
      "AUTH_ERROR",
      'The request has no API key. Send it in the header "Authorization: Bearer api_…".',
    );
  }
  if (text.length !== KEY_LENGTH || !SHAPE.test(text)) {
    throw new TradewireError(
      "AUTH_ERROR",
      `This is not an API key: a key is "${PREFIX}" followed by ${SECRET_LENGTH + CHECKSUM_LENGTH} letters and digits. Check that all of it was copied.`,
    );
  }
  const secret = text.slice(PREFIX.length, PREFIX.length + SECRET_LENGTH);
  if (!text.endsWith(checksum(secret))) {
    throw new TradewireError("AUTH_ERROR", "The API key is mistyped: its checksum does not match. Copy it again.");
  }
}

/** The stored form of a key. A key is random enough for a fast hash; the pepper makes a stolen table useless. */
export function hashApiKey(apiKey: string, pepper: Uint8Array): Uint8Array {
  return createHmac("sha256", pepper).update(apiKey).digest();
}

/** `length` characters of base62, every one equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      // 248 is the largest multiple of 62 in a byte; beyond it the first characters would be more likely.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** CRC-32 of the secret as 6 base62 digits, the most significant first. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
