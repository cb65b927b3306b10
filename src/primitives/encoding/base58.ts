const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGIT_OF = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 58; digit++) DIGIT_OF[ALPHABET.charCodeAt(digit)] = digit;

/** Digits converted at a time: with 16 bits beside them, a double is still exact. */
const DIGITS = 5;
const BASE = 58 ** DIGITS;
const POWERS = [1, 58, 58 ** 2, 58 ** 3, 58 ** 4, BASE];

/** Base58 text of a signature's or an address's bytes: some ten times as fast as conversion digit by digit. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  // 16 bits each, the most significant first.
  const limbs = new Uint16Array((bytes.length + 1) >> 1);
  const isOdd = bytes.length & 1;
  for (let i = 0; i < bytes.length; i++) limbs[(i + isOdd) >> 1]! += (i + isOdd) & 1 ? bytes[i]! : bytes[i]! << 8;
  let text = "";
  for (let from = 0; ; ) {
    while (from < limbs.length && limbs[from] === 0) from++;
    if (from === limbs.length) break;
    let rest = 0;
    for (let i = from; i < limbs.length; i++) {
      const value = rest * 65_536 + limbs[i]!;
      const quotient = Math.floor(value / BASE);
      limbs[i] = quotient;
      rest = value - quotient * BASE;
    }
    for (let digit = 0; digit < DIGITS; digit++) {
      text = ALPHABET[rest % 58]! + text;
      rest = Math.floor(rest / 58);
    }
  }
  return ALPHABET[0]!.repeat(zeros) + text.replace(/^1+/, "");
}

/** The bytes of base58 text; undefined if it is none or longer than `most` bytes. */
export function decodeBase58(text: string, most: number): Uint8Array | undefined {
  let zeros = 0;
  while (zeros < text.length && text[zeros] === ALPHABET[0]) zeros++;
  // A character holds less than six bits: longer texts need not be read.
  if (text.length - zeros > most * 1.4 + 1 || zeros > most) return undefined;
  // 16 bits each, the least significant first.
  const limbs = new Uint16Array((most >> 1) + 3);
  let used = 0;
  for (let at = zeros; at < text.length; ) {
    const end = Math.min(at + DIGITS, text.length);
    const power = POWERS[end - at]!;
    let carry = 0;
    for (; at < end; at++) {
      const digit = DIGIT_OF[text.charCodeAt(at)] ?? -1;
      if (digit < 0) return undefined;
      carry = carry * 58 + digit;
    }
    for (let i = 0; i < used || carry > 0; i++) {
      const value = limbs[i]! * power + carry;
      carry = Math.floor(value / 65_536);
      limbs[i] = value - carry * 65_536;
      if (i >= used) used = i + 1;
    }
  }
  const length = used === 0 ? 0 : 2 * used - (limbs[used - 1]! < 256 ? 1 : 0);
  if (zeros + length > most) return undefined;
  const bytes = new Uint8Array(zeros + length);
  for (let i = 0; i < length; i++) bytes[bytes.length - 1 - i] = i & 1 ? limbs[i >> 1]! >> 8 : limbs[i >> 1]! & 255;
  return bytes;
}
