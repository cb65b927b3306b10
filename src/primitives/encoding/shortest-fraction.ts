/** The most bytes that are written. */
export const LONGEST_FRACTION = 24;

/** Below it JavaScript writes exponents. */
const LEAST = 1e-6;
/** As many digits tell every double from all others. */
const DIGITS = 17;
const LEAST_OF_DIGITS = 1e16;
/** Each is a double exactly. The last brings the least fraction to its digits. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** The last eight digits are reckoned apart: with what follows them they fit a double. */
const LOW = 1e8;
/** What is closer to a bound than this is left to JavaScript; rounding adds up to a hundredth of it. */
const CLOSE = 1e-5;
/** Parts a double into two halves, whose products are exact. */
const HALVES = 2 ** 27 + 1;

const [EXPONENT_SHIFT, MANTISSA_HIGH, BELOW_ITS_EXPONENT] = [20, 0xfffff, 53];
const [ZERO, POINT] = [0x30, 0x2e];

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/**
 * Writes a number between a millionth and one as JavaScript does: with the fewest digits that mean no other double, the closest of these.
 * JavaScript first looks for the text in a large table and then keeps it there.
 *
 * @returns where it ends; 0, and nothing that counts written, for any other number and for a few of these
 */
export function writeFraction(value: number, out: Uint8Array, from: number): number {
  if (!(value >= LEAST && value < 1)) return 0;
  let places = DIGITS;
  while (value * POWERS_OF_TEN[places]! < LEAST_OF_DIGITS) places++;
  const power = POWERS_OF_TEN[places]!;
  const reach = halfGap(value) * power;
  const scaled = value * power;
  let high = Math.floor(scaled / LOW);
  const low = scaled - high * LOW + productError(value, power, scaled);
  let last = shortest(low, reach);
  if (last < 0) {
    high -= 1;
    last += LOW;
  } else if (last >= LOW) {
    high += 1;
    last -= LOW;
  }
  // Not a number, if none was certain.
  return last >= 0 && high >= LOW && high < 10 * LOW ? writeDigits(high | 0, last | 0, places, out, from) : 0;
}

/** Half of what lies between a double and the next; not a number for a power of two, where there are two such. */
function halfGap(value: number): number {
  double[0] = value;
  const high = words[1]!;
  if (words[0] === 0 && (high & MANTISSA_HIGH) === 0) return Number.NaN;
  words[0] = 0;
  words[1] = ((high >>> EXPONENT_SHIFT) - BELOW_ITS_EXPONENT) << EXPONENT_SHIFT;
  return double[0];
}

/** What the product of two doubles is more than the double closest to it, exactly. */
function productError(a: number, b: number, product: number): number {
  const aHigh = a * HALVES - (a * HALVES - a);
  const bHigh = b * HALVES - (b * HALVES - b);
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** The roundest whole number within reach, the closest of these; not a number if a bound is close. */
function shortest(value: number, reach: number): number {
  for (let unit = 100; unit >= 1; unit /= 10) {
    const rounded = Math.round(value / unit) * unit;
    const distance = Math.abs(value - rounded);
    if (distance < reach - CLOSE) return distance < unit / 2 - CLOSE ? rounded : Number.NaN;
    if (!(distance > reach + CLOSE)) return Number.NaN;
  }
  return Number.NaN;
}

/** Writes nine digits and eight, but for zeros at the end, as a fraction with so many places. */
function writeDigits(high: number, low: number, places: number, out: Uint8Array, from: number): number {
  const start = from + 2 + places - DIGITS;
  out[from] = ZERO;
  out[from + 1] = POINT;
  for (let at = from + 2; at < start; at++) out[at] = ZERO;
  let end = start + DIGITS;
  let isEnd = true;
  for (let [at, rest] = [end - 1, low]; at >= start; at--) {
    if (at === start + 8) rest = high;
    const digit = rest % 10;
    rest = (rest / 10) | 0;
    isEnd &&= digit === 0;
    if (isEnd) end = at;
    out[at] = ZERO + digit;
  }
  return end;
}
