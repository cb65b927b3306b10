import bs58 from "bs58";
import { Address } from "../../primitives/address.ts";
import type { Chain } from "../chain/chain.ts";
import type { Commitment } from "../chain/ledger.ts";
import { decodeTransaction, MalformedTransaction, type WireTransaction } from "../transaction/wire-transaction.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";

/** The members of a configuration object, not yet checked. */
export type RpcConfig = Readonly<Record<string, unknown>>;

/** The positional parameters of one call, read with checks: every `parse` throws RpcError -32602 when the caller is wrong. */
export class Params {
  readonly #values: readonly unknown[];

  constructor(values: unknown) {
    if (values !== undefined && values !== null && !Array.isArray(values)) {
      throw invalidParams("Invalid params: expected an array");
    }
    this.#values = values ?? [];
  }

  get count(): number {
    return this.#values.length;
  }

  /** Equal for equal parameters. */
  get key(): string {
    return JSON.stringify(this.#values);
  }

  at(index: number): unknown {
    return this.#values[index];
  }

  parseAddressParam(index: number): Address {
    return parseAddressParam(this.#values[index]);
  }

  parseText(index: number, what: string): string {
    return parseText(this.#values[index], what);
  }

  parseInteger(index: number, what: string): number {
    return parseInteger(this.#values[index], what);
  }

  /** A configuration object; absent and null are an empty one. */
  parseConfig(index: number): RpcConfig {
    const value = this.#values[index] ?? {};
    if (typeof value !== "object" || Array.isArray(value)) {
      throw invalidParams("Invalid params: expected a configuration object");
    }
    return value as RpcConfig;
  }
}

/** An address, as base58 text of 32 bytes. @throws RpcError -32602 */
export function parseAddressParam(value: unknown): Address {
  const address = typeof value === "string" ? Address.parse(value) : undefined;
  if (address === undefined) throw invalidParams(`Invalid param: ${quote(value)} is not an address`);
  return address;
}

/** A list of addresses, of at most `most`. */
export function parseAddressParams(value: unknown, most: number): Address[] {
  if (!Array.isArray(value)) throw invalidParams("Invalid params: expected a list of addresses");
  if (value.length > most) throw invalidParams(`Too many inputs provided; max ${most}`);
  return value.map(parseAddressParam);
}

/** A text; `what` names it in the error. @throws RpcError -32602 */
function parseText(value: unknown, what: string): string {
  if (typeof value !== "string") throw invalidParams(`Invalid params: ${what} must be text`);
  return value;
}

/** A whole number, 0 or above, exact as a JSON number. @throws RpcError -32602 */
export function parseInteger(value: unknown, what: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`Invalid params: ${what} must be an integer that is not negative`);
  }
  return value;
}

/** The same; undefined if it is absent or null. @throws RpcError -32602 */
export function parseOptionalInteger(value: unknown, what: string): number | undefined {
  return value === undefined || value === null ? undefined : parseInteger(value, what);
}

/** A transaction signature, as base58 text of 64 bytes. */
export function parseSignature(value: unknown): string {
  const text = parseText(value, "signature");
  if (text.length > 88 || bs58.decodeUnsafe(text)?.length !== 64) {
    throw invalidParams(`Invalid param: ${quote(text)} is not a signature`);
  }
  return text;
}

/** A commitment; finalized if it is absent, null or unknown, as on nodes. */
export function parseCommitment(value: unknown): Commitment {
  return value === "processed" || value === "confirmed" ? value : "finalized";
}

/** The commitment of a call, after its `minContextSlot` is known to be reached. @throws RpcError -32016 */
export function parseContext(chain: Chain, config: RpcConfig): Commitment {
  const commitment = parseCommitment(config.commitment);
  requireContextSlot(chain.ledger.slot(commitment), config);
  return commitment;
}

/** @throws RpcError -32016 */
export function requireContextSlot(contextSlot: number, config: RpcConfig): void {
  const least = parseOptionalInteger(config.minContextSlot, "minContextSlot");
  if (least !== undefined && contextSlot < least) {
    throw new RpcError(RPC_ERROR.minContextSlotNotReached, "Minimum context slot has not been reached", {
      contextSlot,
    });
  }
}

/** Bytes written in base58 or base64; base58 when no encoding is named. */
export function parseBytes(text: string, encoding: unknown): Uint8Array {
  if (encoding === "base64") {
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text) throw invalidParams("invalid base64 encoding");
    return bytes;
  }
  if (encoding === undefined || encoding === null || encoding === "base58") {
    // Base58 costs the square of its length to decode; nothing valid here is longer.
    const bytes = text.length > 6_000 ? undefined : bs58.decodeUnsafe(text);
    if (bytes === undefined) throw invalidParams("invalid base58 encoding");
    return bytes;
  }
  throw invalidParams(`unsupported encoding: ${quote(encoding)}. Supported encodings: base58, base64`);
}

/** A transaction in base58 or base64; base58 when no encoding is named. @throws RpcError -32602 */
export function parseTransaction(text: string, encoding: unknown): WireTransaction {
  return parseMalformed(() => decodeTransaction(parseBytes(text, encoding)));
}

/** Runs a decoder of transactions or messages; what is wrong with the bytes becomes an answer to the caller. */
export function parseMalformed<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof MalformedTransaction) throw invalidParams(`invalid transaction: ${error.message}`);
    throw error;
  }
}

function quote(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? "nothing";
}
