import type { Address } from "../../../primitives/address.ts";
import { textBytes, viewOf } from "../../../primitives/bytes.ts";
import { addressAtBump } from "../derived-address.ts";
import type { LadderRule } from "./swap-table.ts";

/** Bumps tried for all neighbours before the next are: a bump below the last happens once in 2^32, as with a stranger's address. */
const NEAR_BUMPS = [
  [255, 252],
  [251, 248],
  [247, 240],
  [239, 224],
] as const;
/** Fifteen of sixteen addresses have a bump from here up: these are tried for all before the others for any. */
const LIKELY_BUMP = 252;
/** The same far from the price, where next to no honest account lies: once in 65 536. */
const LEAST_FAR_BUMP = 240;
/** Neighbours tried with every bump around where the price lies, before the whole ladder is. */
const NEAR = 4;

/** Rungs found, oldest first: trades on a market name the same ones again and again. */
const found = new Map<string, number>();
const MOST_FOUND = 2_000;

/**
 * The number of the rung that has this address, or undefined when no rung has.
 * The search begins at the numbers where the trade's price lies, and ends having tried all.
 *
 * @param seeds the seeds before the number
 * @param price of the priced mint in the other one, base units; not positive when unknown
 */
export function findRung(
  rule: LadderRule,
  seeds: readonly Uint8Array[],
  address: Address,
  price: number,
  known: readonly number[],
): number | undefined {
  const key = [rule.program.bytes, address.bytes, ...seeds].map((part) => String.fromCharCode(...part)).join(" ");
  const rung = found.get(key) ?? searchRung(rule, seeds, address, price, known);
  if (rung !== undefined) found.set(key, rung);
  const [oldest] = found.keys();
  if (found.size > MOST_FOUND && oldest !== undefined) found.delete(oldest);
  return rung;
}

function searchRung(
  rule: LadderRule,
  seeds: readonly Uint8Array[],
  address: Address,
  price: number,
  known: readonly number[],
): number | undefined {
  const is = (number: number, fromBump: number, toBump: number): boolean => {
    const all = [...seeds, encodeNumber(number, rule.encoding)];
    for (let bump = fromBump; bump >= toBump; bump--) {
      if (equalHash(addressAtBump(rule.program, all, bump), address)) return true;
    }
    return false;
  };
  const last = Math.ceil(rule.limit / rule.step);
  const starts = startsOf(rule, price, known);
  const near = nearestRungs(rule, starts);
  for (const [from, to] of NEAR_BUMPS) {
    for (const rung of near) if (is(rung * rule.step, from, to)) return rung * rule.step;
  }
  const middle = starts[0] ?? 0;
  for (const [from, to] of [
    [255, LIKELY_BUMP],
    [LIKELY_BUMP - 1, LEAST_FAR_BUMP],
  ] as const) {
    for (const rung of outward(middle, 2 * last, last)) if (is(rung * rule.step, from, to)) return rung * rule.step;
  }
  return undefined;
}

/** The rungs around each start, once for every distance neighbours may have; and the outermost, where full ranges end. */
function nearestRungs({ strides, limit, step }: LadderRule, starts: readonly number[]): ReadonlySet<number> {
  const rungs = new Set<number>();
  for (const stride of strides) {
    // The lowest number lies inside its rung, so the rung begins below it: far below where rungs are wide.
    const [lowest, highest] = [Math.floor(-limit / step / stride), Math.floor(limit / step / stride)];
    rungs.add(lowest * stride).add(highest * stride);
    for (const start of starts) {
      for (const near of outward(Math.floor(start / stride), NEAR)) {
        if (near >= lowest && near <= highest) rungs.add(near * stride);
      }
    }
  }
  return rungs;
}

/** Where to look first: beside what was found before, else where each price base puts the price. */
function startsOf(rule: LadderRule, price: number, known: readonly number[]): number[] {
  const found = known.at(-1);
  if (found !== undefined) return [Math.round(found / rule.step)];
  if (!(price > 0) || price === Number.POSITIVE_INFINITY) return [0];
  return rule.bases.map((base) => Math.floor(Math.log(price) / Math.log(base) / rule.perRung / rule.step));
}

/** start, start+1, start−1, … up to `reach` away, within ±last. */
function* outward(start: number, reach: number, last = Number.POSITIVE_INFINITY): Generator<number> {
  for (let distance = 0; distance <= reach; distance++) {
    if (Math.abs(start + distance) <= last) yield start + distance;
    if (distance > 0 && Math.abs(start - distance) <= last) yield start - distance;
  }
}

function encodeNumber(number: number, encoding: LadderRule["encoding"]): Uint8Array {
  if (encoding === "text") return textBytes(number.toString());
  const bytes = new Uint8Array(encoding === "i32be" ? 4 : 8);
  if (encoding === "i32be") viewOf(bytes).setInt32(0, number, false);
  else viewOf(bytes).setBigInt64(0, BigInt(number), true);
  return bytes;
}

function equalHash(hash: Uint8Array, { bytes }: Address): boolean {
  for (let i = 0; i < 32; i++) if (hash[i] !== bytes[i]) return false;
  return true;
}

/** Seeds of a rule as bytes; the numbers among them are positions in `accounts`. */
export function seedBytes(
  seeds: readonly (string | Uint8Array | Address | number)[],
  accounts: readonly { readonly address: Address }[],
): Uint8Array[] {
  return seeds.map((seed) => {
    if (typeof seed === "string") return textBytes(seed);
    if (typeof seed === "number") return accounts[seed]!.address.bytes;
    return seed instanceof Uint8Array ? seed : seed.bytes;
  });
}
