import { zstdCompressSync } from "node:zlib";
import bs58 from "bs58";
import { Address } from "../../primitives/address.ts";
import { formatAmount } from "../../primitives/amount.ts";
import { viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import { decodeMint, isMint } from "../../solana/token/mint.ts";
import { decodeTokenAccount, isTokenAccount } from "../../solana/token/token-account.ts";
import { parseInteger, type RpcConfig } from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";

const NO_RENT_EPOCH = (1n << 64n) - 1n;
const MAX_BASE58_BYTES = 128;

type AccountEncoding = "binary" | "base58" | "base64" | "base64+zstd" | "jsonParsed";

/** How account data is to be written. */
export interface AccountFormat {
  readonly encoding: AccountEncoding;
  readonly slice: { readonly offset: number; readonly length: number } | undefined;
}

/** Reads `encoding` and `dataSlice` of a configuration. @throws RpcError -32602 */
export function parseAccountFormat(config: RpcConfig): AccountFormat {
  const encoding: unknown = config.encoding ?? "binary";
  switch (encoding) {
    case "binary":
    case "base58":
    case "base64":
    case "base64+zstd":
    case "jsonParsed":
      return { encoding, slice: parseSlice(config.dataSlice) };
    default:
      throw invalidParams("Invalid params: unknown encoding");
  }
}

function parseSlice(value: unknown): AccountFormat["slice"] {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw invalidParams("Invalid params: dataSlice must be an object");
  const { offset, length } = value as RpcConfig;
  return { offset: parseInteger(offset, "dataSlice.offset"), length: parseInteger(length, "dataSlice.length") };
}

/** An account as nodes write it. `mintOf` finds the mint of a token account that is to be written parsed. */
export function encodeAccount(account: Account, format: AccountFormat, mintOf: (mint: Address) => Account | null) {
  return {
    data: encodeData(account, format, mintOf),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner.toString(),
    rentEpoch: NO_RENT_EPOCH,
    space: account.data.length,
  };
}

function encodeData(account: Account, { encoding, slice }: AccountFormat, mintOf: (mint: Address) => Account | null) {
  if (encoding === "jsonParsed") {
    const parsed = parseTokenData(account, mintOf);
    if (parsed !== undefined) return parsed;
  }
  const data = slice === undefined ? account.data : account.data.subarray(slice.offset, slice.offset + slice.length);
  if (encoding === "binary" || encoding === "base58") {
    if (data.length > MAX_BASE58_BYTES) {
      throw new RpcError(
        RPC_ERROR.invalidRequest,
        "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.",
      );
    }
    return encoding === "binary" ? bs58.encode(data) : [bs58.encode(data), "base58"];
  }
  if (encoding === "base64+zstd") return [zstdCompressSync(data).toString("base64"), "base64+zstd"];
  return [toBase64(data), "base64"];
}

/** Token accounts and mints in words; undefined for anything else. @see solana-account-decoder `parse_token` */
function parseTokenData(account: Account, mintOf: (mint: Address) => Account | null) {
  const program = account.owner === TOKEN_2022_PROGRAM ? "spl-token-2022" : "spl-token";
  const space = account.data.length;
  if (isMint(account)) {
    const { decimals, supply } = decodeMint(account);
    const info = {
      decimals,
      freezeAuthority: optionalAddress(account.data, 46),
      isInitialized: true,
      mintAuthority: optionalAddress(account.data, 0),
      supply: supply.toString(),
    };
    return { program, parsed: { info, type: "mint" }, space };
  }
  if (!isTokenAccount(account)) return undefined;
  const { mint, owner, amount, frozen } = decodeTokenAccount(account);
  const mintAccount = mintOf(mint);
  if (mintAccount === null || !isMint(mintAccount)) return undefined;
  const { decimals } = decodeMint(mintAccount);
  const view = viewOf(account.data);
  const delegate = optionalAddress(account.data, 72);
  const closeAuthority = optionalAddress(account.data, 129);
  const isNative = mint === SOL_MINT && view.getUint32(109, true) === 1;
  const info = {
    isNative,
    mint: mint.toString(),
    owner: owner.toString(),
    state: frozen ? "frozen" : "initialized",
    tokenAmount: encodeTokenAmount(amount, decimals),
    ...(delegate === null
      ? {}
      : { delegate, delegatedAmount: encodeTokenAmount(view.getBigUint64(121, true), decimals) }),
    ...(isNative ? { rentExemptReserve: encodeTokenAmount(view.getBigUint64(113, true), decimals) } : {}),
    ...(closeAuthority === null ? {} : { closeAuthority }),
  };
  return { program, parsed: { info, type: "account" }, space };
}

/** An address behind a four-byte flag, as the token programs keep authorities. */
function optionalAddress(data: Uint8Array, offset: number): string | null {
  return viewOf(data).getUint32(offset, true) === 0 ? null : Address.from(data, offset + 4).toString();
}

/** A token amount as nodes write it. */
export function encodeTokenAmount(amount: bigint, decimals: number) {
  const text = formatAmount(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

/** Base64 text of the bytes, which are not copied first. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
