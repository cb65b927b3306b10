import bs58 from "bs58";
import { writeU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { RECENT_BLOCKHASHES_SYSVAR, SYSVAR_OWNER } from "../../solana/programs.ts";
import type { Block, Ledger } from "./ledger.ts";

const COUNT_BYTES = 8;
const HASH_BYTES = 32;
/** A blockhash and the lamports of a signature. */
const ENTRY_BYTES = HASH_BYTES + 8;
const MAX_ENTRIES = 150;
const LAMPORTS_PER_SIGNATURE = 5_000n;
/** What the account holds on mainnet. */
const LAMPORTS = 42_706_560n;

/** The sysvar of recent blockhashes as it stood at the end of the block of a slot, whose own comes first. */
export function recentBlockhashes(ledger: Pick<Ledger, "blockAt">, slot: number): Account {
  const data = new Uint8Array(COUNT_BYTES + MAX_ENTRIES * ENTRY_BYTES);
  let count = 0;
  let block: Block | undefined = ledger.blockAt(slot);
  while (block !== undefined && count < MAX_ENTRIES) {
    const at = COUNT_BYTES + count * ENTRY_BYTES;
    data.set(bs58.decode(block.blockhash), at);
    writeU64(data, at + HASH_BYTES, LAMPORTS_PER_SIGNATURE);
    count += 1;
    block = block.parentSlot === block.slot ? undefined : ledger.blockAt(block.parentSlot);
  }
  writeU64(data, 0, BigInt(count));
  return {
    ...{ address: RECENT_BLOCKHASHES_SYSVAR, owner: SYSVAR_OWNER, lamports: LAMPORTS },
    ...{ data, executable: false, slot: BigInt(slot) },
  };
}
