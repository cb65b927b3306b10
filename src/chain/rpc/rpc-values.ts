import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { NodeError } from "./node-error.ts";

/** Integers above 2^53 in the places of balances; nothing else that large (rent epochs) is ever read. */
const LARGE_BALANCE = /(?:"lamports":|[[,])\s*\d{16,}/;

/**
 * Parses a node's JSON. Balances too large for a double become bigint; they are rare, so the slow exact parse runs only if
 * the text holds one.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseRpcJson(text: string): unknown {
  return LARGE_BALANCE.test(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text);
}

function keepLargeIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
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
  const address = typeof value === "string" ? Address.parse(value) : undefined;
  if (address === undefined) throw malformed(what);
  return address;
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
  return {
    address,
    owner: asAddress(record.owner, "an account"),
    lamports,
    data: Buffer.from(asText(encoded, "an account"), "base64"),
    executable: record.executable === true,
    slot,
  };
}
