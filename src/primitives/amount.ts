import { U64_MAX } from "./integer.ts";

/** Lamports in one SOL. */
export const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Decimals of SOL and of wrapped SOL. */
export const SOL_DECIMALS = 9;

/**
 * Base units of a JSON number of whole units. The number is read as the shortest decimal that prints it (0.1 is exactly
 * one tenth), then truncated toward zero.
 *
 * @returns undefined if the amount is not finite, not positive, zero after truncation, or above u64
 */
export function parseAmount(wholeUnits: number, decimals: number): bigint | undefined {
  if (!(wholeUnits > 0) || wholeUnits === Number.POSITIVE_INFINITY) return undefined;
  const amount = exactUnits(wholeUnits, decimals) ?? scaleDecimal(String(wholeUnits), decimals);
  return amount > 0n && amount <= U64_MAX ? amount : undefined;
}

/**
 * Base units of a limit in whole units, read like an amount: what is exactly at the limit is within it. 0 if the limit is not
 * positive or below one base unit; the most of u64 if it is above that.
 */
export function limitUnits(wholeUnits: number, decimals: number): bigint {
  if (!(wholeUnits > 0)) return 0n;
  return parseAmount(wholeUnits, decimals) ?? (wholeUnits < 1 ? 0n : U64_MAX);
}

/**
 * Base units of a decimal string, such as "1500000".
 *
 * @returns undefined if it is not a whole number above zero without leading zeros, or above u64
 */
export function parseRawAmount(text: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,19}$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= U64_MAX ? amount : undefined;
}

/**
 * The same without text, for a whole number of base units with at most fifteen digits: no two such decimals share a double, so
 * the one that divides back to the number is the one it prints as. Undefined for any other number.
 */
function exactUnits(wholeUnits: number, decimals: number): bigint | undefined {
  const scale = POWERS_OF_TEN[decimals];
  if (scale === undefined) return undefined;
  const units = Math.round(wholeUnits * scale);
  return units < 1e15 && units / scale === wholeUnits ? BigInt(units) : undefined;
}

/** `text` (decimal or exponent notation, not negative) × 10^decimals, truncated toward zero. */
function scaleDecimal(text: string, decimals: number): bigint {
  const [mantissa = "", exponent = "0"] = text.split("e");
  const [integer = "", fraction = ""] = mantissa.split(".");
  const shift = decimals + Number(exponent) - fraction.length;
  const digits = integer + fraction;
  if (shift >= 0) return shift > 60 ? U64_MAX + 1n : BigInt(digits + "0".repeat(shift));
  return -shift >= digits.length ? 0n : BigInt(digits.slice(0, shift));
}

/** A base-unit amount as the nearest JSON number of whole units. Display only: exact values are sent as text. */
export function toWholeUnits(amount: bigint, decimals: number): number {
  const units = Number(amount);
  const scale = POWERS_OF_TEN[decimals];
  // A division of two exact doubles is the double nearest to the exact quotient.
  if (scale !== undefined && Number.isSafeInteger(units)) return units / scale;
  return Number(formatAmount(amount, decimals));
}

/** Powers of ten that a double holds exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** A base-unit amount as exact decimal text of whole units, without trailing zeros. */
export function formatAmount(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const integer = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + (fraction === "" ? integer : `${integer}.${fraction}`);
}
