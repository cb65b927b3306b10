import type { Address } from "../../primitives/address.ts";
import { scanJson } from "../../primitives/json-bounds.ts";
import type { Account } from "../../solana/account.ts";
import { KeptAccount } from "../../solana/account-content.ts";
import { addressNamed } from "./named-addresses.ts";
import { NodeError } from "./node-error.ts";

/** Integers above 2^53 where balances stand; nothing else that large (rent epochs) is ever read. */
const LARGE_BALANCE = /(?:"lamports":|[[,])\s*\d{16,}/;

const LAMPORTS = '"lamports":';

/** Shorter texts cannot stall the process, whatever they hold. */
const HARMLESS_LENGTH = 4_096;
/** Integers with this many digits or more may not fit a double exactly. */
const LARGE_DIGITS = 16;
/** Characters and values of a transaction's error: a hundred times what the chain writes. */
const MAX_ERROR_CHARACTERS = 8_192;
/** Most integers that large in one answer: balances of nine million SOL are rare. */
const MAX_LARGE = 1_000;
/** Not a balance, but present in every account. */
const RENT_EPOCH = '"rentEpoch":';
/** Stands before the digits of a large integer while it is parsed as text. */
const MARK = "integer:";

/**
 * Parses a node's JSON, which is untrusted: text that could stall the process is refused before it is parsed. Balances too
 * large for a double become bigint; they are rare, so the slower exact parse runs only if the text holds one.
 *
 * @throws SyntaxError if the text is not JSON, is nested too deeply or holds too many values
 */
export function parseRpcJson(text: string): unknown {
  if (text.length <= HARMLESS_LENGTH && !LARGE_BALANCE.test(text)) return JSON.parse(text);
  const large: [start: number, end: number][] = [];
  let hasBalance = false;
  scanJson(text, (start, end) => {
    if (end - start < LARGE_DIGITS || text.startsWith(RENT_EPOCH, start - RENT_EPOCH.length)) return;
    if (!/^-?\d+$/.test(text.slice(start, end))) return;
    large.push([start, end]);
    hasBalance ||= isBalanceAt(text, start);
  });
  if (hasBalance && large.length > MAX_LARGE) throw new SyntaxError(`JSON has more than ${MAX_LARGE} large integers`);
  return hasBalance ? restoreIntegers(JSON.parse(markIntegers(text, large))) : JSON.parse(text);
}

/** True for an integer where a balance stands: after `"lamports":`, or in a list. */
function isBalanceAt(text: string, start: number): boolean {
  let before = start;
  while (before > 0 && " \t\r\n".includes(text[before - 1]!)) before--;
  return "[,".includes(text[before - 1]!) || text.startsWith(LAMPORTS, before - LAMPORTS.length);
}

function markIntegers(text: string, large: readonly (readonly [start: number, end: number])[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of large) {
    parts.push(text.slice(from, start), `"${MARK}`, text.slice(start, end), '"');
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** Replaces marked texts by their integers, in place. The value's depth is bounded. */
function restoreIntegers(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith(MARK) ? integerOf(value.slice(MARK.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) holder[key] = restoreIntegers(holder[key]);
  return value;
}

function integerOf(digits: string): number | bigint | string {
  if (!/^-?\d{1,64}$/.test(digits)) return digits;
  const rounded = Number(digits);
  return Number.isSafeInteger(rounded) ? rounded : BigInt(digits);
}

function malformed(what: string): NodeError {
  return new NodeError("malformed", `A Solana node answered with ${what} that cannot be decoded.`);
}

/** The value as a JSON object. @throws TradewireError UPSTREAM_ERROR */
export function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(what);
  return value as Readonly<Record<string, unknown>>;
}

/** @throws TradewireError UPSTREAM_ERROR */
export function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(what);
  return value;
}

/** The value as a list with an entry for each of so many things asked for: a missing one says nothing. @throws TradewireError UPSTREAM_ERROR */
export function asListOf(count: number, value: unknown, what: string): readonly unknown[] {
  const list = asList(value, what);
  if (list.length !== count) throw malformed(what);
  return list;
}

/** @throws TradewireError UPSTREAM_ERROR */
export function asText(value: unknown, what: string): string {
  if (typeof value !== "string") throw malformed(what);
  return value;
}

/** A non-negative integer. @throws TradewireError UPSTREAM_ERROR */
export function asInteger(value: unknown, what: string): bigint {
  if (typeof value === "bigint" && value >= 0n) return value;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw malformed(what);
}

/** A non-negative integer written as text. @throws TradewireError UPSTREAM_ERROR */
export function asIntegerText(value: unknown, what: string): bigint {
  if (typeof value !== "string" || !/^\d{1,39}$/.test(value)) throw malformed(what);
  return BigInt(value);
}

/** @throws TradewireError UPSTREAM_ERROR */
export function asAddress(value: unknown, what: string): Address {
  const address = typeof value === "string" ? addressNamed(value) : undefined;
  if (address === undefined) throw malformed(what);
  return address;
}

/**
 * The error of a transaction as the chain writes it, which is plain JSON; null if it succeeded. An error that is large, or holds impossible
 * integers, could be neither compared nor stored.
 * @throws TradewireError UPSTREAM_ERROR
 */
export function asTransactionError(value: unknown, what: string): unknown | null {
  if (value === undefined || value === null) return null;
  let length = 0;
  const measure = (key: string, held: unknown): unknown => {
    length += key.length + (typeof held === "string" ? held.length : 1);
    if (typeof held === "bigint" || length > MAX_ERROR_CHARACTERS) throw malformed(what);
    return held;
  };
  JSON.stringify(value, measure);
  return value;
}

/** The `{context: {slot}, value}` around every answer about state. @throws TradewireError UPSTREAM_ERROR */
export function asContext(result: unknown, what: string): { readonly slot: bigint; readonly value: unknown } {
  const outer = asRecord(result, what);
  const context = asRecord(outer.context, what);
  return { slot: asInteger(context.slot, what), value: outer.value };
}

/**
 * An account in base64 encoding; null if there is none. An account without lamports is closed, though nodes may still
 * report its last bytes.
 *
 * @throws TradewireError UPSTREAM_ERROR
 */
export function asAccount(address: Address, value: unknown, slot: bigint): Account | null {
  if (value === null) return null;
  const record = asRecord(value, "an account");
  const lamports = asInteger(record.lamports, "an account");
  if (lamports === 0n) return null;
  const [encoded, encoding] = asList(record.data, "an account");
  if (encoding !== "base64") throw malformed("an account");
  const owner = asAddress(record.owner, "an account");
  const executable = record.executable === true;
  return KeptAccount.ofBase64({ address, owner, lamports, executable, slot }, asText(encoded, "an account"));
}
