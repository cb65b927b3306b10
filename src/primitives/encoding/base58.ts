const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGIT_OF = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 58; digit++) DIGIT_OF[ALPHABET.charCodeAt(digit)] = digit;

/** Digits converted at a time: with 16 bits beside them, a double is still exact. */
const DIGITS = 5;
const BASE = 58 ** DIGITS;
const POWERS = [1, 58, 58 ** 2, 58 ** 3, 58 ** 4, BASE];
const DIGIT_CODES = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const [ZERO] = DIGIT_CODES as Uint8Array & [number];
const PLACES_OF_16_BITS = 16 / Math.log2(BASE);
/** Places of `BASE` that so many times 16 bits take at most. */
const placesOf = (limbs: number): number => Math.ceil(limbs * PLACES_OF_16_BITS) + 1;

/** The longest text that is encoded: sums of so many products of 16 bits and a place are exact. Bytes. */
const MOST_ENCODED = 128;
const MOST_PLACES = placesOf(MOST_ENCODED / 2);
/** The powers of 2^16 in places of `BASE`, least significant first, one after the other. */
const WEIGHTS = new Float64Array((MOST_ENCODED / 2) * MOST_PLACES);
WEIGHTS[0] = 1;
for (let row = MOST_PLACES; row < WEIGHTS.length; row += MOST_PLACES) {
  for (let place = 0, carry = 0; place < MOST_PLACES; place++) {
    const value = WEIGHTS[row - MOST_PLACES + place]! * 65_536 + carry;
    carry = Math.floor(value / BASE);
    WEIGHTS[row + place] = value - carry * BASE;
  }
}
/** What is being encoded: sums of places, then digits. Nothing in them outlives a call. */
const sums = new Float64Array(MOST_PLACES);
const digits = new Uint8Array(MOST_PLACES * DIGITS);

/**
 * Base58 text of a signature's or an address's bytes, by sums of powers instead of repeated division.
 * @throws RangeError if there are more than 128
 */
export function encodeBase58(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > MOST_ENCODED) throw new RangeError(`more than ${MOST_ENCODED} bytes`);
  let zeros = 0;
  while (zeros < length && bytes[zeros] === 0) zeros++;
  const limbs = (length - zeros + 1) >> 1;
  const places = placesOf(limbs);
  sums.fill(0, 0, places);
  for (let limb = 0; limb < limbs; limb++) {
    const at = length - 1 - 2 * limb;
    const value = bytes[at]! + (at > zeros ? bytes[at - 1]! << 8 : 0);
    const row = limb * MOST_PLACES;
    const used = placesOf(limb + 1);
    for (let place = 0; place < used; place++) sums[place]! += value * WEIGHTS[row + place]!;
  }
  let first = digits.length;
  let last = first;
  for (let place = 0, carry = 0; place < places; place++) {
    const value = sums[place]! + carry;
    carry = Math.floor(value / BASE);
    let rest = value - carry * BASE;
    for (let digit = 0; digit < DIGITS; digit++) {
      const higher = Math.floor(rest / 58);
      const one = rest - higher * 58;
      digits[--first] = DIGIT_CODES[one]!;
      if (one > 0) last = first;
      rest = higher;
    }
  }
  while (zeros-- > 0) digits[--last] = ZERO;
  return String.fromCharCode.apply(undefined, digits.subarray(last) as unknown as number[]);
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
