import { readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../account.ts";
import { extensionsOf } from "./mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "./token-account.ts";

/**
 * Type numbers of the extensions of a Token-2022 account that matter to trading.
 * @see spl-token-2022 `extension/mod.rs`, enum ExtensionType
 */
const EXTENSION = {
  transferFeeAmount: 2,
  confidentialTransferAccount: 5,
  memoTransfer: 8,
  cpiGuard: 11,
  confidentialTransferFeeAmount: 17,
} as const;

/** Where a confidential account has its three hidden balances, and whether it takes plain transfers. @see `ConfidentialTransferAccount` */
const HIDDEN_BALANCES = { from: 33, to: 225 } as const;
const TAKES_PLAIN_AT = 262;

/** True if programs may not move what the account holds in the owner's name: every swap that takes from it fails. */
export function isCpiGuarded(account: Account): boolean {
  return isOn(account, EXTENSION.cpiGuard);
}

/** True if a transfer into the account fails unless a memo comes right before it. */
export function wantsMemo(account: Account): boolean {
  return isOn(account, EXTENSION.memoTransfer);
}

/** True if the account takes confidential transfers alone: a plain one into it fails. */
export function takesNoDeposits(account: Account): boolean {
  const value = extensionIn(account, EXTENSION.confidentialTransferAccount);
  return value !== undefined && value[TAKES_PLAIN_AT] === 0;
}

/** True if the account cannot be closed although its balance is 0: it holds withheld fees, or a confidential balance. */
export function holdsHidden(account: Account): boolean {
  const withheld = extensionIn(account, EXTENSION.transferFeeAmount);
  if (withheld !== undefined && readU64(withheld, 0) !== 0n) return true;
  const hidden = extensionIn(account, EXTENSION.confidentialTransferAccount);
  const hiddenFees = extensionIn(account, EXTENSION.confidentialTransferFeeAmount);
  const isSet = (byte: number) => byte !== 0;
  return (
    hidden?.subarray(HIDDEN_BALANCES.from, HIDDEN_BALANCES.to).some(isSet) === true || hiddenFees?.some(isSet) === true
  );
}

/** True if the account has a switch of this type, and it is on. */
function isOn(account: Account, type: number): boolean {
  return extensionIn(account, type)?.[0] === 1;
}

/** The value of an account's extension; undefined if it has none of this type. Most accounts have no extension at all. */
function extensionIn({ data }: Account, type: number): Uint8Array | undefined {
  if (data.length <= TOKEN_ACCOUNT_SIZE) return undefined;
  for (const one of extensionsOf(data)) {
    if (one.type === type) return data.subarray(one.start, one.start + one.length);
  }
  return undefined;
}
