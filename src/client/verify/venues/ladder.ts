import type { Address } from "../../../primitives/address.ts";
import { textBytes, viewOf } from "../../../primitives/bytes.ts";
import { addressAtBump, preimageOf } from "../derived-address.ts";
import type { LadderRule, Seed } from "./swap-table.ts";

/** Addresses derived at most for all arrays of ticks or bins of one transaction: about ten milliseconds of work. */
export const SEARCH_LIMIT = 4_000;

/** The derivations that a transaction has left to find its arrays with. A search that needs more finds nothing. */
export interface LadderSearch {
  left: number;
}

/** A new transaction's search. */
export function createSearch(): LadderSearch {
  return { left: SEARCH_LIMIT };
}

/**
 * How far from each start the search goes in turn, and from which bump down to which. Each bump has half the chance of the one
 * above it, and honest arrays lie at the trade's price or next to it: the likely ones are tried first. Far from the price only
 * the commonest strides are tried, on breadth before depth.
 */
const TURNS = [
  { reach: 1, lowest: 250, strides: 99 },
  { reach: 4, lowest: 252, strides: 99 },
  { reach: 1, lowest: 240, strides: 99 },
  { reach: 4, lowest: 246, strides: 4 },
  { reach: 16, lowest: 252, strides: 4 },
  { reach: 256, lowest: 253, strides: 1 },
  { reach: 64, lowest: 252, strides: 4 },
  { reach: 1, lowest: 224, strides: 99 },
  { reach: 16, lowest: 244, strides: 4 },
  { reach: 256, lowest: 250, strides: 1 },
  { reach: 16_384, lowest: 252, strides: 99 },
] as const;
/** No rung of any ladder has a larger number. */
const MOST_NUMBER = 2 ** 31 - 1;
/** Neighbours on both sides of an array that was found; further away, the next one lies ahead in the direction of the trade. */
const BOTH_SIDES = 4;

/** Where a search begins. */
interface Start {
  readonly rungs: readonly number[];
  /** How many steps may lie between neighbours: the divisors of the distances between the rungs found so far. */
  readonly strides: readonly number[];
  /** 1 or −1 if the next array lies that way; 0 if it may lie on either side. */
  readonly ahead: number;
}

/** Rungs found, oldest first: trades on a market name the same ones again and again. */
const found = new Map<string, number>();
const MOST_FOUND = 2_000;

/**
 * The number of the rung that has this address, or undefined if no rung has it or the search has no derivations left.
 *
 * @param seeds the seeds before the number
 * @param price of the priced mint in the other one, base units; not positive if unknown
 * @param known the rungs before this one: neighbours lie beside them
 * @param direction 1 if the price of the priced mint rises, −1 if it falls
 */
export function findRung(
  rule: LadderRule,
  seeds: readonly Uint8Array[],
  address: Address,
  price: number,
  known: readonly number[],
  direction: number,
  search: LadderSearch,
): number | undefined {
  const start: Start = {
    rungs: startsOf(rule, price, known),
    strides: rule.strides.filter((stride) => known.every((number) => (number / rule.step) % stride === 0)),
    ahead: known.length === 0 ? 0 : direction,
  };
  const key = [rule.program.bytes, address.bytes, ...seeds].map((part) => String.fromCharCode(...part)).join(" ");
  const rung = found.get(key) ?? searchRung(rule, seeds, address, start, search);
  if (rung !== undefined) found.set(key, rung);
  const [oldest] = found.keys();
  if (found.size > MOST_FOUND && oldest !== undefined) found.delete(oldest);
  return rung;
}

/** True if the address is that of this rung of the ladder. The number is announced by the service, and may be anything. */
export function isRung(
  rule: LadderRule,
  seeds: readonly Uint8Array[],
  address: Address,
  number: number | undefined,
  search: LadderSearch,
): number is number {
  if (!Number.isInteger(number) || number! % rule.step !== 0 || Math.abs(number!) > MOST_NUMBER) return false;
  const preimage = preimageOf(rule.program, [...seeds, encodeNumber(number!, rule.encoding)]);
  for (let bump = 255; bump >= 0 && search.left > 0; bump--) {
    search.left -= 1;
    if (equalHash(addressAtBump(preimage, bump), address)) return true;
  }
  return false;
}

function searchRung(
  rule: LadderRule,
  seeds: readonly Uint8Array[],
  address: Address,
  start: Start,
  search: LadderSearch,
): number | undefined {
  /** By rung the lowest bump tried. */
  const tried = new Map<number, number>();
  for (const { reach, lowest, strides } of TURNS) {
    for (const rung of rungsAround(rule, { ...start, strides: start.strides.slice(0, strides) }, reach)) {
      const from = (tried.get(rung) ?? 256) - 1;
      if (from < lowest) continue;
      const preimage = preimageOf(rule.program, [...seeds, encodeNumber(rung * rule.step, rule.encoding)]);
      for (let bump = from; bump >= lowest; bump--) {
        if (search.left <= 0) return undefined;
        search.left -= 1;
        if (equalHash(addressAtBump(preimage, bump), address)) return rung * rule.step;
      }
      tried.set(rung, lowest);
    }
  }
  return undefined;
}

/**
 * The rungs up to `reach` neighbours away from each start, nearest first, for every distance neighbours may have; and the
 * outermost, where full ranges end.
 */
function* rungsAround({ limit, step }: LadderRule, { rungs, strides, ahead }: Start, reach: number): Generator<number> {
  // The lowest number lies inside its rung, so the rung begins below it: far below where rungs are wide.
  const rows = strides.map((stride) => ({
    stride,
    lowest: Math.floor(-limit / step / stride),
    highest: Math.floor(limit / step / stride),
  }));
  const widest = Math.max(...rows.map(({ highest, lowest }) => highest - lowest));
  for (let distance = 0; distance <= Math.min(reach, widest); distance++) {
    for (const { stride, lowest, highest } of rows) {
      for (const rung of rungs) {
        const at = Math.floor(rung / stride);
        const isBeside = distance <= BOTH_SIDES || ahead === 0;
        if ((isBeside || ahead > 0) && at + distance <= highest) yield (at + distance) * stride;
        if ((isBeside || ahead < 0) && distance > 0 && at - distance >= lowest) yield (at - distance) * stride;
      }
    }
    if (distance === 1) for (const { stride, lowest, highest } of rows) yield* [lowest * stride, highest * stride];
  }
}

/** Where to look first: beside what was found before, and where the price lies, as each price base puts it. */
function startsOf(rule: LadderRule, price: number, known: readonly number[]): number[] {
  const last = known.at(-1);
  const beside = last === undefined ? [] : [Math.round(last / rule.step)];
  // Rungs already found are better evidence than a price whose base is a guess.
  if (beside.length > 0 && rule.bases.length > 1) return beside;
  if (!(price > 0) || price === Number.POSITIVE_INFINITY) return beside.length > 0 ? beside : [0];
  const starts = rule.bases.map((base) => Math.floor(Math.log(price) / Math.log(base) / rule.perRung / rule.step));
  const outermost = Math.floor(rule.limit / rule.step);
  return [...new Set([...beside, ...starts.map((start) => Math.max(-outermost, Math.min(outermost, start)))])];
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
  seeds: readonly Seed[],
  accounts: readonly { readonly address: Address }[],
  { inMint, outMint }: { readonly inMint: Address; readonly outMint: Address },
): Uint8Array[] {
  return seeds.map((seed) => {
    if (typeof seed === "string") return textBytes(seed);
    if (typeof seed === "number") return accounts[seed]!.address.bytes;
    if (seed instanceof Uint8Array) return seed;
    if ("mint" in seed) return (seed.mint === "in" ? inMint : outMint).bytes;
    return seed.bytes;
  });
}
