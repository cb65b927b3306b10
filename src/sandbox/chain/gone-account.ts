import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";

const NO_DATA = new Uint8Array(0);

/** What subscribers see of an account that no longer exists: owned by the system program, empty, without lamports. */
export function goneAccount(address: Address, slot: bigint): Account {
  return { address, owner: SYSTEM_PROGRAM, lamports: 0n, data: NO_DATA, executable: false, slot };
}
