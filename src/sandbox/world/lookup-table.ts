import type { Address } from "../../primitives/address.ts";
import { concatBytes, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { LOOKUP_TABLE_PROGRAM } from "../../solana/lookup-table.ts";
import { derive, findPda } from "../../solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../solana/programs.ts";
import { isMint } from "../../solana/token/mint.ts";
import { decodeTokenAccount, isTokenAccount } from "../../solana/token/token-account.ts";
import type { WorldAccount, WorldLedger } from "./genesis-ledger.ts";
import { BUYBACK_FEE_RECIPIENTS, FEE_PROGRAM, FEE_RECIPIENTS, MAYHEM_FEE_RECIPIENTS } from "./pump-fees.ts";

/** Entries a table holds at most: they are counted in one byte. */
const MAX_ENTRIES = 256;
const HEADER_SIZE = 56;
const KIND_TABLE = 1;
const NEVER_DEACTIVATED = (1n << 64n) - 1n;

/**
 * Puts a lookup table over what trades in the world name and no wallet owns: programs, their settings, markets, vaults,
 * mints and fee recipients. It is frozen. Called last, once everything else exists.
 *
 * @returns its address
 * @throws RangeError when the world has outgrown one table
 */
export function putLookupTable(ledger: WorldLedger, programs: readonly Address[], creator: Address): Address {
  const entries = entriesOf(ledger.accounts(), programs);
  if (entries.length > MAX_ENTRIES) throw new RangeError(`a lookup table cannot hold ${entries.length} entries`);
  const header = new Uint8Array(HEADER_SIZE);
  writeU32(header, 0, KIND_TABLE);
  writeU64(header, 4, NEVER_DEACTIVATED);
  const { address } = findPda([creator.bytes, new Uint8Array(8)], LOOKUP_TABLE_PROGRAM);
  ledger.put(address, LOOKUP_TABLE_PROGRAM, concatBytes(header, ...entries.map(({ bytes }) => bytes)));
  return address;
}

function entriesOf(accounts: readonly WorldAccount[], programs: readonly Address[]): Address[] {
  const entries = new Set<Address>([
    SYSTEM_PROGRAM,
    TOKEN_PROGRAM,
    TOKEN_2022_PROGRAM,
    ASSOCIATED_TOKEN_PROGRAM,
    INSTRUCTIONS_SYSVAR,
    FEE_PROGRAM,
    ...programs,
    ...programs.map((program) => derive(program, "__event_authority")),
    ...FEE_RECIPIENTS,
    ...MAYHEM_FEE_RECIPIENTS,
    ...BUYBACK_FEE_RECIPIENTS,
  ]);
  const owners = new Set([...programs, FEE_PROGRAM]);
  const wallets = new Set(accounts.filter(({ owner }) => owner === SYSTEM_PROGRAM).map(({ address }) => address));
  for (const { address, owner } of accounts) if (owners.has(owner)) entries.add(address);
  for (const account of accounts.map(asAccount)) {
    if (isMint(account) || !isTokenAccount(account)) continue;
    const { owner, mint } = decodeTokenAccount(account);
    if (wallets.has(owner) && !entries.has(owner)) continue;
    for (const address of [account.address, owner, mint]) entries.add(address);
  }
  return [...entries];
}

const asAccount = (account: WorldAccount) => ({ ...account, executable: false, slot: 0n });
