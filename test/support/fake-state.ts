import type { AccountReader, StateSource } from "../../src/chain/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import type { Account } from "../../src/solana/account.ts";
import { SYSTEM_PROGRAM } from "../../src/solana/programs.ts";

/** A chain of accounts in memory, as its reader and as its source of changes. */
export interface FakeState extends StateSource, AccountReader {
  readonly followed: Set<Address>;
  /** Calls of `follow`, of `fetchAccounts` and of `fetchProgramAccounts` so far. */
  follows: number;
  fetches: number;
  searches: number;
  slot: bigint;
  setbacks: number;
  /** Reads fail while true. */
  broken: boolean;
  /** Program searches are refused while true. */
  refusing: boolean;
  /** Up to when everything followed is current; undefined: now. */
  currentUntilMs: number | undefined;
  /** Accounts that the nodes contradict each other about. */
  readonly disputed: Set<Address>;
  /** Accounts written by a landed transaction whose state has not arrived: until the promise resolves, or they are set. */
  readonly behind: Set<Address>;
  caughtUp: Promise<void>;
  /** Sets an account and notifies its followers; undefined data removes it. */
  set(address: Address, data: Uint8Array | undefined, owner?: Address): void;
  /** Reports a state without setting it. */
  deliver(address: Address, data: Uint8Array | undefined, slot: bigint): void;
  /** Reports that the account is no longer known. */
  forget(address: Address): void;
}

export function fakeState(now: () => number): FakeState {
  const accounts = new Map<Address, Account>();
  let listener: (address: Address, account: Account | null | undefined, slot: bigint) => void = () => {};
  const make = (address: Address, data: Uint8Array, slot: bigint, owner: Address): Account => ({
    address,
    owner,
    lamports: 1n,
    data,
    executable: false,
    slot,
  });
  const state: FakeState = {
    followed: new Set(),
    follows: 0,
    fetches: 0,
    searches: 0,
    slot: 100n,
    setbacks: 0,
    broken: false,
    refusing: false,
    currentUntilMs: undefined,
    disputed: new Set(),
    behind: new Set(),
    caughtUp: Promise.resolve(),
    set(address, data, owner = SYSTEM_PROGRAM) {
      state.slot += 1n;
      if (data === undefined) accounts.delete(address);
      else accounts.set(address, make(address, data, state.slot, owner));
      if (state.followed.has(address)) listener(address, accounts.get(address) ?? null, state.slot);
    },
    deliver(address, data, slot) {
      listener(address, data === undefined ? null : make(address, data, slot, SYSTEM_PROGRAM), slot);
    },
    use() {},
    forget: (address) => listener(address, undefined, state.slot),
    onAccount(given) {
      listener = given;
    },
    async follow(addresses, known) {
      state.follows += 1;
      for (const address of addresses) state.followed.add(address);
      for (const address of addresses) {
        const given = known?.get(address);
        if (given !== undefined) listener(address, given.account, given.slot);
      }
      await null;
      if (state.broken) throw new Error("the node is down");
      for (const address of addresses)
        if (known?.has(address) !== true) listener(address, accounts.get(address) ?? null, state.slot);
    },
    unfollow(addresses) {
      for (const address of addresses) state.followed.delete(address);
    },
    async refresh(addresses) {
      for (const address of addresses) listener(address, accounts.get(address) ?? null, state.slot);
    },
    noteWritten(addresses) {
      state.setbacks += 1;
      for (const address of addresses) state.behind.add(address);
    },
    catchUp(addresses) {
      return [...addresses].some((address) => state.behind.has(address)) ? state.caughtUp : undefined;
    },
    currentAtMs: (address) => (state.behind.has(address) ? 0 : (state.currentUntilMs ?? now())),
    contested: () => state.disputed,
    close() {},
    async fetchAccounts(addresses) {
      state.fetches += 1;
      await null;
      if (state.broken) throw new Error("the node is down");
      return { slot: state.slot, accounts: addresses.map((address) => accounts.get(address) ?? null) };
    },
    async fetchProgramAccounts({ program }) {
      state.searches += 1;
      if (state.refusing) return "refused";
      if (state.broken) throw new Error("the node is down");
      return [...accounts.values()].filter(({ owner }) => owner === program);
    },
  };
  return state;
}
