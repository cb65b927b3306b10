import bs58 from "bs58";
import { hasBytesAt } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { isTokenAccount } from "../../solana/token/token-account.ts";
import { parseBytes, parseInteger, type RpcConfig } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

const MAX_FILTERS = 4;
const MAX_MEMCMP_BYTES = 128;

/** True for the accounts a search is for. */
type AccountFilter = (account: Account) => boolean;

/** Reads the `filters` of a configuration: all of them must hold. @throws RpcError -32602 */
export function parseAccountFilter(filters: unknown): AccountFilter {
  if (filters === undefined || filters === null) return () => true;
  if (!Array.isArray(filters)) throw invalidParams("Invalid params: filters must be a list");
  if (filters.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const all = filters.map(parseOne);
  return (account) => all.every((holds) => holds(account));
}

function parseOne(filter: unknown): AccountFilter {
  if (filter === "tokenAccountState") return isTokenAccount;
  if (typeof filter !== "object" || filter === null) throw invalidParams("Invalid params: unknown filter");
  const { dataSize, memcmp } = filter as RpcConfig;
  if (dataSize !== undefined) {
    const size = parseInteger(dataSize, "dataSize");
    return ({ data }) => data.length === size;
  }
  if ("tokenAccountState" in filter) return isTokenAccount;
  if (typeof memcmp !== "object" || memcmp === null) throw invalidParams("Invalid params: unknown filter");
  const { offset, bytes, encoding } = memcmp as RpcConfig;
  const at = parseInteger(offset, "memcmp.offset");
  const expected = parseComparedBytes(bytes, encoding);
  if (expected.length > MAX_MEMCMP_BYTES) throw invalidParams("Invalid params: memcmp data too large; max 128 bytes");
  return ({ data }) => hasBytesAt(data, at, expected);
}

/** Text in base58 (the default) or base64, or a list of byte values. */
function parseComparedBytes(bytes: unknown, encoding: unknown): Uint8Array {
  if (Array.isArray(bytes)) {
    if (!bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)) {
      throw invalidParams("Invalid params: memcmp.bytes must be bytes");
    }
    return Uint8Array.from(bytes);
  }
  if (typeof bytes !== "string" || bytes.length > 4 * MAX_MEMCMP_BYTES) {
    throw invalidParams("Invalid params: memcmp.bytes must be text of at most 128 bytes");
  }
  if (encoding === "base64") return parseBytes(bytes, "base64");
  const decoded = bs58.decodeUnsafe(bytes);
  if (decoded === undefined) throw invalidParams("Invalid params: memcmp.bytes is not base58");
  return decoded;
}
