import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { AccountReader, AccountsAtSlot, ProgramFilter } from "../../../src/chain/port.ts";
import { GatheredReads } from "../../../src/chain/rpc/accounts/gathered-reads.ts";
import type { AccountFeed, FeedListener } from "../../../src/chain/state/account-feed.ts";
import { Address, compareAddresses } from "../../../src/primitives/address.ts";
import { createWorld } from "../../../src/sandbox/world/world.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { WORLD_CLOCK } from "../../support/world.ts";

/** Accounts of one call. */
const PER_CALL = 100;
/** Offset of the first of an account's addresses, and which of them are the pool's vaults and mints. */
const FIRST_KEY = 8;
const KEYS = { config: 0, vaults: [2, 3], mints: [5, 6] } as const;
const offsetOf = (key: number) => FIRST_KEY + 32 * key;
const SOL_DECIMALS_OFFSET = 44;

/**
 * As many constant-product pools as wanted, each with its own token against SOL, behind the ports of a node. Calls are counted.
 */
export class LiveChain {
  readonly accounts = new Map<Address, Account>();
  /** Pools by token. */
  readonly pools = new Map<Address, Address>();
  /** Pools and their vaults: what trades change. */
  readonly changing: Address[] = [];
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  readonly calls = { accounts: 0, programAccounts: 0 };
  slot = WORLD_CLOCK.slot;
  liveAtMs = Date.now();
  #listener: FeedListener | undefined;

  /** @param readsTakeMs how long the node takes to answer a read of accounts; searches and, at 0, reads are answered at once */
  constructor(markets: number, readsTakeMs = 0) {
    this.#seed(markets);
    const gathered = new GatheredReads(PER_CALL, async (addresses) => {
      this.calls.accounts += 1;
      if (readsTakeMs > 0) await setTimeout(readsTakeMs);
      return { slot: this.slot, accounts: addresses.map((address) => this.#read(address)) };
    });
    this.reader = {
      fetchAccounts: async (addresses) => {
        const parts: Promise<AccountsAtSlot>[] = [];
        for (let at = 0; at < addresses.length; at += PER_CALL)
          parts.push(gathered.read(addresses.slice(at, at + PER_CALL)));
        const answers = await Promise.all(parts);
        return { slot: this.slot, accounts: answers.flatMap(({ accounts }) => accounts) };
      },
      fetchProgramAccounts: async (filter) => {
        this.calls.programAccounts += 1;
        return this.#search(filter);
      },
    };
    this.feed = {
      listen: (listener) => {
        this.#listener = listener;
      },
      follow: (addresses) => this.#listener?.onCovered(addresses, this.slot),
      unfollow: () => {},
      liveAtMs: () => this.liveAtMs,
      reportsEveryChange: false,
      liveTimes: () => () => this.liveAtMs,
      leastLiveAtMs: () => this.liveAtMs,
      readStamp: () => ({ epoch: -1, order: 0 }),
      doubt: () => true,
      close: () => {},
    };
  }

  /** Receives what the stream reports. */
  get listener(): FeedListener {
    return this.#listener!;
  }

  put(address: Address, owner: Address, data: Uint8Array, lamports = 1_000_000n): void {
    this.accounts.set(address, { address, owner, lamports, data, executable: false, slot: this.slot });
  }

  beginSlot(): void {
    this.slot += 1n;
    this.liveAtMs = Date.now();
    this.listener.onSlot(this.slot, this.slot - 1n);
    this.listener.onRoot(this.slot - 32n);
  }

  #read(address: Address): Account | null {
    const account = this.accounts.get(address);
    // Bytes of its own, as those of an answer are.
    return account === undefined ? null : { ...account, data: account.data.slice(), slot: this.slot };
  }

  /** The pool of the token that a filter names; there are no others. */
  #search({ program, memcmp }: ProgramFilter): readonly Account[] {
    const found: Account[] = [];
    for (const { bytes } of memcmp) {
      if (bytes.length !== 32) continue;
      const pool = this.pools.get(Address.from(bytes));
      const account = pool === undefined ? null : this.#read(pool);
      if (account === null || account.owner !== program) continue;
      const matches = ({ offset, bytes }: ProgramFilter["memcmp"][number]) =>
        Buffer.compare(account.data.subarray(offset, offset + bytes.length), bytes) === 0;
      if (memcmp.every(matches) && !found.includes(account)) found.push(account);
    }
    return found;
  }

  /** Pools after the model of one of the embedded chain's: its own mint, vaults and address each. */
  #seed(markets: number): void {
    const world = createWorld({ seed: 1, slot: WORLD_CLOCK.slot, unixTimestamp: WORLD_CLOCK.unixTimestamp });
    const byAddress = new Map(world.accounts.map((account) => [account.address, account]));
    const model = world.tokens.find((one) => one.venue === "raydium_cpmm" && one.quoteMint === SOL_MINT)!;
    const pool = byAddress.get(model.market)!;
    const keyAt = (key: number) => Address.from(pool.data, offsetOf(key));
    const isSolFirst = keyAt(KEYS.mints[0]) === SOL_MINT;
    const [solAt, tokenAt] = isSolFirst ? ([0, 1] as const) : ([1, 0] as const);
    const config = byAddress.get(keyAt(KEYS.config));
    if (config !== undefined) this.put(config.address, config.owner, config.data);
    this.put(SOL_MINT, TOKEN_PROGRAM, byAddress.get(SOL_MINT)?.data ?? solMintData());
    const mint = byAddress.get(model.mint)!;
    const solVault = byAddress.get(keyAt(KEYS.vaults[solAt]))!;
    const tokenVault = byAddress.get(keyAt(KEYS.vaults[tokenAt]))!;
    while (this.pools.size < markets) {
      const token = Address.from(randomBytes(32));
      if (compareAddresses(SOL_MINT, token) < 0 !== isSolFirst) continue;
      const [own, ownSol, ownTokens] = [randomBytes(32), randomBytes(32), randomBytes(32)].map((bytes) =>
        Address.from(bytes),
      ) as [Address, Address, Address];
      const data = pool.data.slice();
      data.set(ownSol.bytes, offsetOf(KEYS.vaults[solAt]));
      data.set(ownTokens.bytes, offsetOf(KEYS.vaults[tokenAt]));
      data.set(token.bytes, offsetOf(KEYS.mints[tokenAt]));
      const held = tokenVault.data.slice();
      held.set(token.bytes, 0);
      this.put(token, mint.owner, mint.data.slice());
      this.put(own, pool.owner, data);
      this.put(ownSol, TOKEN_PROGRAM, solVault.data.slice());
      this.put(ownTokens, TOKEN_PROGRAM, held);
      this.pools.set(token, own);
      this.changing.push(own, ownSol, ownTokens);
    }
  }
}

function solMintData(): Uint8Array {
  const data = new Uint8Array(82);
  data[SOL_DECIMALS_OFFSET] = 9;
  data[SOL_DECIMALS_OFFSET + 1] = 1;
  return data;
}
