import { base64Decode } from "@bufbuild/protobuf/wire";
import { Address } from "../../primitives/address.ts";
import { equalBytes, readU64, viewOf } from "../../primitives/bytes.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { TradeError } from "../trade-error.ts";
import type { RpcCall } from "./rpc.ts";

/** An account as a node reports it. */
export interface NodeAccount {
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** What of a token account a trade may or may not change. */
export interface NodeTokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  /** Delegate, its allowance, state and close authority, as bytes: no trade changes them. */
  readonly rights: Uint8Array;
  /** True if nobody but the owner has any right over the account. */
  readonly isFree: boolean;
}

/** Accounts one request may ask for. */
const MOST_A_CALL = 100;
const TOKEN_ACCOUNT_SIZE = 165;
/** Extensions follow this byte, which says whether they extend a mint or an account. */
const KIND_AT = 165;
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;
/** Kinds of extensions: a transfer fee, and the newest that the programs of all venues know. @see spl-token-2022, `ExtensionType` */
const TRANSFER_FEE = 1;
const NEWEST_EVERYWHERE = 19;

/**
 * Reads accounts, one undefined for each that does not exist.
 * @param commitment `confirmed` for what is believed longer than one simulation: a processed block may be dropped, and with it a
 * mint or a lookup table of other contents @throws TradeError NODE_UNAVAILABLE
 */
export async function readAccounts(
  call: RpcCall,
  addresses: readonly Address[],
  commitment: "processed" | "confirmed",
  signal?: AbortSignal,
): Promise<ReadonlyMap<Address, NodeAccount | undefined>> {
  const accounts = new Map<Address, NodeAccount | undefined>();
  for (let at = 0; at < addresses.length; at += MOST_A_CALL) {
    const part = addresses.slice(at, at + MOST_A_CALL);
    const config = { encoding: "base64", commitment };
    const answer = await call("getMultipleAccounts", [part.map(String), config], signal);
    for (const [address, account] of parseAccounts((answer as { value?: unknown }).value, part)) {
      accounts.set(address, account);
    }
  }
  return accounts;
}

/** Accounts in the order they were asked for. @throws TradeError NODE_UNAVAILABLE if the list is another one */
export function parseAccounts(
  value: unknown,
  addresses: readonly Address[],
): ReadonlyMap<Address, NodeAccount | undefined> {
  if (!Array.isArray(value) || value.length !== addresses.length) throw malformed();
  return new Map(addresses.map((address, index) => [address, parseAccount(value[index])]));
}

function parseAccount(value: unknown): NodeAccount | undefined {
  if (value === null) return undefined;
  const { owner, lamports, data } = value as { owner?: unknown; lamports?: unknown; data?: unknown };
  const program = typeof owner === "string" ? Address.parse(owner) : undefined;
  const text = Array.isArray(data) ? data[0] : undefined;
  if (program === undefined || typeof lamports !== "number" || typeof text !== "string") throw malformed();
  if (lamports === 0) return undefined;
  return { owner: program, lamports: BigInt(lamports), data: base64Decode(text) };
}

function malformed(): TradeError {
  return new TradeError("NODE_UNAVAILABLE", "Your node's answer has an unknown form. Nothing was signed.");
}

/** The token account in an account; undefined if it is none, or not initialized. @see Token program, `Account` */
export function tokenAccountIn(account: NodeAccount | undefined): NodeTokenAccount | undefined {
  if (account === undefined) return undefined;
  const { owner, data } = account;
  if (owner !== TOKEN_PROGRAM && owner !== TOKEN_2022_PROGRAM) return undefined;
  if (data.length < TOKEN_ACCOUNT_SIZE || (data.length > TOKEN_ACCOUNT_SIZE && data[KIND_AT] !== KIND_ACCOUNT)) {
    return undefined;
  }
  const state = data[108];
  if (state === 0) return undefined;
  const view = viewOf(data);
  const hasDelegate = view.getUint32(72, true) === 1;
  const hasCloser = view.getUint32(129, true) === 1;
  const holder = Address.from(data, 32);
  return {
    mint: Address.from(data, 0),
    owner: holder,
    amount: readU64(data, 64),
    rights: Uint8Array.of(
      ...(hasDelegate ? data.subarray(72, 108) : []),
      state ?? 0,
      ...(hasDelegate ? data.subarray(121, 129) : []),
      ...(hasCloser ? data.subarray(129, 165) : []),
    ),
    isFree: !hasDelegate && state === 1 && (!hasCloser || equalBytes(data.subarray(133, 165), holder.bytes)),
  };
}

/** True if the account is a wallet's own: SOL and no data. */
export function isPlain({ owner, data }: NodeAccount): boolean {
  return owner === SYSTEM_PROGRAM && data.length === 0;
}

/**
 * True of a mint whose transfer fee stands behind an extension that a venue's program may not know. Such a program reads no further: its
 * bound leaves the fee out, and with it a fee that rises before the transaction lands.
 */
export function hidesTransferFee({ owner, data }: NodeAccount): boolean {
  if (owner !== TOKEN_2022_PROGRAM || data[KIND_AT] !== KIND_MINT) return false;
  const view = viewOf(data);
  let isHidden = false;
  for (let at = KIND_AT + 1; at + 4 <= data.length; at += 4 + view.getUint16(at + 2, true)) {
    const kind = view.getUint16(at, true);
    if (kind === TRANSFER_FEE) return isHidden;
    if (kind > NEWEST_EVERYWHERE) isHidden = true;
  }
  return false;
}
