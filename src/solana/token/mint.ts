import type { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../account.ts";
import { decodeOnce } from "../decode-once.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { TOKEN_ACCOUNT_SIZE } from "./token-account.ts";
import { decodeTransferFees, type TransferFees } from "./transfer-fee.ts";

const MINT_SIZE = 82;
/** In Token-2022, extensions follow an account-type byte that sits where a plain token account ends. */
const ACCOUNT_TYPE_OFFSET = 165;
const ACCOUNT_TYPE_MINT = 1;

/** Type numbers of the Token-2022 extensions that matter to trading. @see spl-token-2022 `extension/mod.rs`, enum ExtensionType */
const EXTENSION = {
  transferFeeConfig: 1,
  confidentialTransferMint: 4,
  defaultAccountState: 6,
  nonTransferable: 9,
  permanentDelegate: 12,
  transferHook: 14,
  pausable: 26,
} as const;

/** The newest extension known here, PermissionedBurn: what a newer one does to transfers is unknown. */
const NEWEST_EXTENSION = 28;
/** The newest extension that the programs of all venues know, TokenMetadata: some read no further than a newer one. */
const NEWEST_EVERYWHERE = 19;
const ACCOUNT_STATE_FROZEN = 2;

/** The parts of a token's mint that trading depends on. */
export interface Mint {
  readonly address: Address;
  readonly program: Address;
  readonly decimals: number;
  readonly supply: bigint;
  /** Absent: transfers of this token are free. */
  readonly transferFees: TransferFees | undefined;
  /** Data bytes of an associated token account. */
  readonly accountSize: number;
  /** How many Token-2022 extensions it carries. */
  readonly extensions: number;
  /** Why this token cannot be traded, in words; undefined if it can. */
  readonly unsupported: string | undefined;
}

/**
 * Bytes that an extension of a mint adds to each of its accounts: a header of four, and withheld fees or a mark.
 *
 * @see spl-token-2022 `ExtensionType::get_required_init_account_extensions`
 */
const BYTES_IN_ACCOUNT: Readonly<Record<number, number>> = {
  [EXTENSION.transferFeeConfig]: 4 + 8,
  [EXTENSION.nonTransferable]: 4,
  [EXTENSION.transferHook]: 4 + 1,
  [EXTENSION.pausable]: 4,
};
/** An associated account of Token-2022 has a type, and an extension of its own that says that its owner is immutable. */
const IMMUTABLE_OWNER_SIZE = TOKEN_ACCOUNT_SIZE + 1 + 4;

/** True if the account belongs to one of the two token programs and is an initialised mint. */
export function isMint(account: Account): boolean {
  if (account.owner !== TOKEN_PROGRAM && account.owner !== TOKEN_2022_PROGRAM) return false;
  const { data } = account;
  if (data.length < MINT_SIZE || data[45] !== 1) return false;
  return (
    data.length === MINT_SIZE ||
    (account.owner === TOKEN_2022_PROGRAM && data[ACCOUNT_TYPE_OFFSET] === ACCOUNT_TYPE_MINT)
  );
}

/** The mint in an account; undefined if there is none. One object for all who ask: it need not be in the processor's caches twice. */
export const mintIn: (account: Account) => Mint | undefined = decodeOnce((account) =>
  isMint(account) ? decodeMint(account) : undefined,
);

/** Reads a mint, plain or with Token-2022 extensions. @throws TypeError if the account is not a mint */
export function decodeMint(account: Account): Mint {
  if (!isMint(account)) throw new TypeError(`${account.address} is not a mint`);
  const { data } = account;
  let transferFees: TransferFees | undefined;
  let unsupported: string | undefined;
  let accountSize = account.owner === TOKEN_PROGRAM ? TOKEN_ACCOUNT_SIZE : IMMUTABLE_OWNER_SIZE;
  let extensions = 0;
  let newest = 0;
  for (const { type, start, length } of extensionsOf(data)) {
    extensions++;
    newest = Math.max(newest, type);
    accountSize += BYTES_IN_ACCOUNT[type] ?? 0;
    switch (type) {
      case EXTENSION.transferFeeConfig:
        transferFees = decodeTransferFees(data.subarray(start, start + length));
        // A program that does not find the fee holds its bound against what it sends, not against what arrives.
        if (newest > NEWEST_EVERYWHERE) {
          unsupported = `its transfer fee stands behind an extension that programs of venues may not know (type ${newest})`;
        }
        break;
      case EXTENSION.defaultAccountState:
        if (data[start] === ACCOUNT_STATE_FROZEN) unsupported = "its token accounts start frozen";
        break;
      case EXTENSION.nonTransferable:
        unsupported = "it cannot be transferred";
        break;
      case EXTENSION.transferHook:
        if (data.subarray(start + 32, start + 64).some((byte) => byte !== 0))
          unsupported = "it has an active transfer hook";
        break;
      case EXTENSION.pausable:
        if (data[start + 32] === 1) unsupported = "its transfers are paused";
        break;
      default:
        if (type > NEWEST_EXTENSION) unsupported = `it has an extension of a kind unknown here (type ${type})`;
    }
  }
  return {
    address: account.address,
    program: account.owner,
    decimals: data[44]!,
    supply: readU64(data, 36),
    transferFees,
    accountSize,
    extensions,
    unsupported,
  };
}

/** The extension entries of a Token-2022 mint or token account: type, and where its value lies in `data`. */
export function* extensionsOf(data: Uint8Array): Generator<{ type: number; start: number; length: number }> {
  const view = viewOf(data);
  let at = ACCOUNT_TYPE_OFFSET + 1;
  while (at + 4 <= data.length) {
    const type = view.getUint16(at, true);
    const length = view.getUint16(at + 2, true);
    const start = at + 4;
    if (type === 0 || start + length > data.length) return;
    yield { type, start, length };
    at = start + length;
  }
}
