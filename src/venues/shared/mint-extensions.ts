import type { Address } from "../../primitives/address.ts";
import type { AccountView } from "../../solana/account.ts";
import { decodeOnce } from "../../solana/decode-once.ts";
import { extensionsOf } from "../../solana/token/mint.ts";

const countIn = decodeOnce(({ data }) => [...extensionsOf(data)].length);

/** Number of a mint's Token-2022 extensions: programs scan all of them, which costs compute units. */
export function extensionCount(have: AccountView, mint: Address): number {
  const account = have.get(mint);
  return account === undefined || account === null ? 0 : countIn(account);
}
