import type { AccountReader, KnownAccount } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import { AddressTable } from "../primitives/addresses/address-table.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account } from "../solana/account.ts";
import { type Mint, mintIn } from "../solana/token/mint.ts";
import { GradualSweep } from "./gradual-sweep.ts";
import type { AccountHolder, HeldAccount, LiveAccounts } from "./live-accounts.ts";
import type { Markets, SearchCaller } from "./port.ts";
import type { MintProofs } from "./search/mints/mint-proofs.ts";
import { sinceStart } from "./watch/since-start.ts";

/** Durations are in milliseconds. */
interface SingleAccountsOptions {
  readonly live: LiveAccounts;
  readonly reader: Pick<AccountReader, "fetchAccounts">;
  readonly proofs: MintProofs;
  readonly now: Now;
  /** Older state is not answered. */
  readonly maxAgeMs: number;
  /** How long an unused account is kept. */
  readonly idleMs: number;
  /** The same for an address that was requested as a mint but has no account. */
  readonly negativeMs: number;
  readonly maxSingles: number;
}

/** A mint whose requests all lie within this time counts as requested once, such as by one quote. Milliseconds. */
const ONCE_MS = 1_000;
/** How long such a mint is kept while many are: callers could request endless real mints, each once. Milliseconds. */
const ONCE_IDLE_MS = 60_000;
/** The part of the limit above which that holds. */
const CROWDED = 0.1;

/** How long an account that was a mint still counts as one: a single node may say otherwise before others are asked. Milliseconds. */
const GONE_MS = 5_000;

/** What builds read of an account or a mint. */
export type SeenSingle = Pick<Single, "account" | "mint">;

/** Times are of `sinceStart`. What every build reads comes first: most of these are in no cache of the processor. */
interface Single {
  readonly table: AddressTable<Single>;
  /** As `held` has it. Undefined before the account is held, and while its state is unknown. */
  account: Account | null | undefined;
  lastUsedMs: number;
  /** Until then the account is fresh without a look at its record, unless there was a setback since. */
  freshUntilMs: number;
  setbacks: number;
  mint: Mint | null;
  decodedFrom: Account | undefined;
  /** Undefined before the account is held. */
  held: HeldAccount | undefined;
  readonly address: Address;
  readonly firstUsedMs: number;
  /** Requested as a mint, so not kept for long if there is none. */
  isMint: boolean;
  /** When it was first seen to be no mint any more; undefined if it never was one. */
  goneAtMs: number | undefined;
}

/** Accounts requested by themselves, such as mints and wallet accounts: kept live from the first request until long unused. */
export class SingleAccounts implements Pick<Markets, "mint" | "account" | "warm" | "refresh"> {
  readonly #options: SingleAccountsOptions;
  readonly #singles = new AddressTable<Single>("single");
  readonly #holder: AccountHolder = {
    onChange: (address, account) => {
      const entry = this.#singles.get(address);
      if (entry !== undefined) entry.account = account;
    },
  };
  readonly #sweep = new GradualSweep();

  constructor(options: SingleAccountsOptions) {
    this.#options = options;
  }

  /** What is in memory of an address, see `ReadAhead`. */
  seen(address: Address): SeenSingle | undefined {
    return this.#singles.get(address);
  }

  /** @throws TradewireError UPSTREAM_ERROR, RATE_LIMIT_EXCEEDED, OVERLOADED */
  mint(address: Address, caller?: SearchCaller): Mint | null | Promise<Mint | null> {
    const { proofs } = this.#options;
    const entry = this.#singles.get(address);
    if (entry?.account !== undefined) return this.#mintOf(address, entry, entry.account);
    if (proofs.isAbsent(address)) return null;
    const read = this.#readMint(address, caller);
    // Callers that only look into memory drop the promise.
    read.catch(() => {});
    return read;
  }

  /** Follows the account only if it is a mint: otherwise any address would cost a subscription. */
  async #readMint(address: Address, caller: SearchCaller | undefined): Promise<Mint | null> {
    const { live, proofs } = this.#options;
    const known = await proofs.prove(address, caller);
    if (known.account === null) return null;
    await this.#hold([address], new Map([[address, known]]));
    return this.#mintOf(address, this.#single(address), live.get(address) ?? null);
  }

  account(address: Address): Account | null | undefined {
    const { live, now, maxAgeMs } = this.#options;
    const entry = this.#singles.get(address);
    if (entry === undefined) {
      // Nobody waits for this one; the source keeps trying.
      this.warm([address]).catch(() => {});
      return undefined;
    }
    const atMs = now();
    const sinceMs = sinceStart(atMs);
    entry.lastUsedMs = sinceMs;
    const { account } = entry;
    const { setbacks } = live;
    // What changes later is newer than what was found fresh.
    if (sinceMs < entry.freshUntilMs && setbacks === entry.setbacks) return account;
    if (account === undefined) return undefined;
    const leastMs = atMs - maxAgeMs;
    const currentAtMs = live.currentAtMs(address, entry.held, leastMs);
    if (currentAtMs < leastMs) return undefined;
    entry.freshUntilMs = sinceStart(Math.min(currentAtMs, atMs) + maxAgeMs);
    entry.setbacks = setbacks;
    return account;
  }

  /** @throws TradewireError UPSTREAM_ERROR */
  async warm(addresses: readonly Address[], mayWait = false): Promise<void> {
    const unheld = mayWait ? addresses.filter((address) => this.#singles.get(address)?.held === undefined) : [];
    if (unheld.length > 0) await this.#hold(unheld, await this.#readAlong(unheld));
    await this.#hold(addresses);
    await this.#options.live.catchUp(addresses);
  }

  /** Reads accounts in a call that others share, if one is made soon. @throws TradewireError UPSTREAM_ERROR */
  async #readAlong(addresses: readonly Address[]): Promise<ReadonlyMap<Address, KnownAccount>> {
    const { reader, now } = this.#options;
    const readAtMs = now();
    const { slot, accounts } = await reader.fetchAccounts(addresses, undefined, true);
    const known = new Map<Address, KnownAccount>();
    for (const [i, address] of addresses.entries()) {
      const account = accounts[i] ?? null;
      known.set(address, { account, slot: account?.slot ?? slot, readAtMs });
    }
    return known;
  }

  #hold(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void> {
    const { live } = this.#options;
    const holding = live.hold(this.#holder, addresses, known);
    for (const address of addresses) {
      const entry = this.#single(address);
      entry.held = live.entryOf(address);
      entry.account = entry.held?.account;
    }
    return holding;
  }

  /** @throws TradewireError UPSTREAM_ERROR */
  async refresh(addresses: readonly Address[]): Promise<void> {
    await this.warm(addresses);
    await this.#options.live.refresh(addresses);
  }

  /** Starts to release accounts unused for too long, and the longest unused above the limit; thousands take several turns of the loop. */
  sweep(): void {
    const { live, now, idleMs, negativeMs, maxSingles } = this.#options;
    const atMs = sinceStart(now());
    const idleSinceMs = atMs - idleMs;
    const noneSinceMs = atMs - negativeMs;
    const onceSinceMs = this.#singles.size > CROWDED * maxSingles ? atMs - ONCE_IDLE_MS : idleSinceMs;
    this.#sweep.begin<Single>({
      items: this.#singles.values(),
      size: this.#singles.size,
      state: ({ address, firstUsedMs, lastUsedMs, isMint }) => {
        if (lastUsedMs < idleSinceMs) return "unused";
        if (!isMint) return "used";
        if (lastUsedMs < noneSinceMs && live.get(address) === null) return "unused";
        return lastUsedMs - firstUsedMs < ONCE_MS && lastUsedMs < onceSinceMs ? "unused" : "used";
      },
      lastUsedMs: ({ lastUsedMs }) => lastUsedMs,
      drop: (unused) => {
        const gone = unused.flatMap((single) => (this.#singles.get(single.address) === single ? [single.address] : []));
        for (const address of gone) this.#singles.delete(address);
        live.release(this.#holder, gone);
      },
      limit: maxSingles,
    });
  }

  close(): void {
    this.#sweep.close();
    this.#singles.detach();
  }

  #single(address: Address): Single {
    let entry = this.#singles.get(address);
    if (entry === undefined) {
      const atMs = sinceStart(this.#options.now());
      entry = {
        table: this.#singles,
        account: undefined,
        lastUsedMs: atMs,
        freshUntilMs: 0,
        setbacks: 0,
        mint: null,
        decodedFrom: undefined,
        held: undefined,
        address,
        firstUsedMs: atMs,
        isMint: false,
        goneAtMs: undefined,
      };
      this.#singles.set(address, entry);
    }
    entry.lastUsedMs = sinceStart(this.#options.now());
    return entry;
  }

  /** An account that was a mint stays one for a moment after a node says otherwise, and while the nodes contradict each other about it. */
  #mintOf(address: Address, entry: Single, account: Account | null): Mint | null {
    const atMs = sinceStart(this.#options.now());
    entry.lastUsedMs = atMs;
    // Unchanged since the last time: nothing is decoded again.
    if (account !== null && entry.decodedFrom === account) return entry.mint;
    entry.isMint = true;
    const mint = account === null ? undefined : mintIn(account);
    if (account !== null && mint !== undefined) {
      entry.mint = mint;
      entry.decodedFrom = account;
      entry.goneAtMs = undefined;
      return entry.mint;
    }
    if (entry.mint === null) return null;
    entry.decodedFrom = undefined;
    entry.goneAtMs ??= atMs;
    const isUnsure = atMs - entry.goneAtMs < GONE_MS || this.#options.live.contested().has(address);
    return isUnsure ? entry.mint : null;
  }
}
