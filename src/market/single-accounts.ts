import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account } from "../solana/account.ts";
import { decodeMint, isMint, type Mint } from "../solana/mint.ts";
import { leastUsed } from "./least-used.ts";
import type { AccountHolder, LiveAccounts } from "./live-accounts.ts";
import type { Markets } from "./port.ts";

/** Accounts that are asked for by themselves, as mints and wallet accounts are: live from then on, until long unused. */
interface SingleAccounts extends Pick<Markets, "mint" | "account" | "warm" | "refresh"> {
  /** Lets go of what was not asked for during its time, and of the longest unused above the limit. */
  sweep(): void;
}

interface SingleAccountsOptions {
  readonly live: LiveAccounts;
  readonly now: Now;
  /** Older state is not answered. */
  readonly maxAgeMs: number;
  readonly idleMs: number;
  /** The same for what was asked for as a mint and does not exist. */
  readonly negativeMs: number;
  readonly maxSingles: number;
}

interface Single {
  lastUsedMs: number;
  /** Asked for as a mint, by anybody: not kept for long where there is none. */
  isMint: boolean;
  decodedFrom: Account | undefined;
  mint: Mint | null;
}

/** Keeps single accounts live from the first time they are asked for. */
export function createSingleAccounts({
  live,
  now,
  maxAgeMs,
  idleMs,
  negativeMs,
  maxSingles,
}: SingleAccountsOptions): SingleAccounts {
  const singles = new Map<Address, Single>();
  const holder: AccountHolder = { onChange() {} };

  function single(address: Address): Single {
    let entry = singles.get(address);
    if (entry === undefined) {
      entry = { lastUsedMs: 0, isMint: false, decodedFrom: undefined, mint: null };
      singles.set(address, entry);
    }
    entry.lastUsedMs = now();
    return entry;
  }

  function mintOf(address: Address, account: Account | null): Mint | null {
    const entry = single(address);
    entry.isMint = true;
    if (account === null) return null;
    if (entry.decodedFrom !== account) {
      entry.mint = isMint(account) ? decodeMint(account) : null;
      entry.decodedFrom = account;
    }
    return entry.mint;
  }

  function warm(addresses: readonly Address[]): Promise<void> {
    for (const address of addresses) single(address);
    return live.hold(holder, addresses);
  }

  return {
    warm,
    mint(address) {
      const account = live.get(address);
      if (account !== undefined && singles.has(address)) return mintOf(address, account);
      const read = warm([address]).then(() => mintOf(address, live.get(address) ?? null));
      // Whoever only wants to know whether it is in memory does not wait for it.
      read.catch(() => {});
      return read;
    },
    account(address) {
      const entry = singles.get(address);
      if (entry === undefined) {
        // Nobody waits for this one; the source goes on trying.
        warm([address]).catch(() => {});
        return undefined;
      }
      const atMs = now();
      entry.lastUsedMs = atMs;
      const account = live.get(address);
      return account !== undefined && live.currentAtMs(address) + maxAgeMs >= atMs ? account : undefined;
    },
    async refresh(addresses) {
      await warm(addresses);
      await live.refresh(addresses);
    },
    sweep() {
      const idleSinceMs = now() - idleMs;
      const noneSinceMs = now() - negativeMs;
      const kept: { readonly address: Address; readonly lastUsedMs: number }[] = [];
      const unused: Address[] = [];
      for (const [address, { lastUsedMs, isMint }] of singles) {
        const isUnused = lastUsedMs < (isMint && live.get(address) === null ? noneSinceMs : idleSinceMs);
        if (isUnused) unused.push(address);
        else kept.push({ address, lastUsedMs });
      }
      for (const { address } of leastUsed(kept, maxSingles)) unused.push(address);
      for (const address of unused) singles.delete(address);
      live.release(holder, unused);
    },
  };
}
