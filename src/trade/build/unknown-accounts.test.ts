import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { readTransaction } from "../../client/verify/read-transaction.ts";
import type { HotMarket, Markets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Venue } from "../../venues/venue.ts";
import type { BuiltTrade } from "../trade.ts";
import { buildTrade } from "./build-trade.ts";
import { wrappedSolAccount } from "./wallet-accounts.ts";

const random = createRandom(241);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, PROGRAM, VOLUME] = [address(), address(), address(), address()];
const WRAPPED = wrappedSolAccount(WALLET).address;

const open = (at: Address): Account => {
  const data = new Uint8Array(165);
  return { address: at, owner: TOKEN_PROGRAM, lamports: 2_039_280n, data, executable: false, slot: 1n };
};

/**
 * Builds a purchase while nobody knows whether one account of the wallet exists.
 *
 * @param read what a node answers; undefined: none answers
 * @param later the markets once the wallet's balances have been read again, which were out of date; absent: they were not
 */
async function build(
  hot: readonly HotMarket[],
  unknown: Address,
  read: Account | null | undefined,
  later?: readonly HotMarket[],
) {
  const current = [...hot];
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: current });
  const reads: Address[] = [];
  let isRead = false;
  let isOutdated = later !== undefined;
  const markets: Markets = {
    ...base.markets,
    account: (asked) => {
      if (asked === WALLET && isOutdated) return null;
      if (asked !== unknown) return base.markets.account(asked);
      return isRead ? read : undefined;
    },
    refresh: async () => {
      isOutdated = false;
      current.splice(0, current.length, ...(later ?? []));
    },
    warm: async (asked) => {
      reads.push(...asked);
      isRead ||= asked.includes(unknown);
    },
  };
  const building = async () => buildTrade({ ...base, markets }, buyFor(WALLET, MINT));
  return { built: await building().catch((error: Error) => error), reads };
}

/** A market that takes wrapped SOL, whose swap names so many accounts. */
const wrapping = (count: number) =>
  fakeMarket({
    ...{ mint: MINT, address: address(), program: PROGRAM, nativeSol: false },
    accounts: Array.from({ length: count }, address),
  });

/** A market whose first swap of a wallet creates an account, in an instruction with so many accounts. */
function creating(count: number): HotMarket {
  const accounts = Array.from({ length: count }, address).map((one) => ({
    ...{ address: one, signer: false, writable: true },
  }));
  const swap = { program: PROGRAM, accounts: [{ ...accounts[0]!, address: VOLUME }], data: new Uint8Array(8) };
  const create = { program: PROGRAM, accounts, data: new Uint8Array(8) };
  const venue: Partial<Venue> = {
    swap: (_state, _quote, { exists }) => ({
      instructions: exists(VOLUME) ? [swap] : [create, swap],
      computeUnits: 10_000,
      creates: [{ address: VOLUME, space: 100 }],
    }),
  };
  return fakeMarket({ mint: MINT, address: address(), program: PROGRAM, venue });
}

/** Fits with SOL wrapped in the wallet's own account only. */
const TIGHT = 20;

test("a trade that fits only with SOL wrapped in the wallet's own account waits until it is known to have none", async () => {
  const { built, reads } = await build([wrapping(TIGHT)], WRAPPED, null);
  expect(reads).toEqual([WRAPPED]);
  const { instructions } = readTransaction((built as BuiltTrade).unsignedTransaction);
  const opened = instructions.filter(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM);
  expect(opened.map(({ accounts }) => accounts[1]?.address)).toContain(WRAPPED);
});

test("SOL is not wrapped in an account that the wallet has, or may have", async () => {
  expect((await build([wrapping(TIGHT)], WRAPPED, open(WRAPPED))).built).toMatchObject({ code: "NO_ROUTE" });
  const silent = await build([wrapping(TIGHT)], WRAPPED, undefined);
  expect(silent.built).toMatchObject({ code: "STATE_STALE" });
  expect(silent.reads).toEqual([WRAPPED]);
});

test("a trade that fits with a smaller form does not ask for the wallet's own account", async () => {
  const { built, reads } = await build([wrapping(TIGHT - 6)], WRAPPED, undefined);
  expect(built).not.toBeInstanceOf(Error);
  expect(reads).toEqual([]);
});

test("a better route that fits only with SOL wrapped in the wallet's own account is built, though another one fits", async () => {
  const worse = wrapping(4);
  const halved = { ...worse, venue: { ...worse.venue, quote: halvedQuote(worse.venue) } };
  const { built } = await build([wrapping(TIGHT), halved], WRAPPED, null);
  expect((built as BuiltTrade).estimates.outAmount).toBe(500_000_000n);
  const other = await build([wrapping(TIGHT), halved], WRAPPED, open(WRAPPED));
  expect((other.built as BuiltTrade).estimates.outAmount).toBe(250_000_000n);
});

test("a trade that does not fit if an account must be created is refused only once that is known", async () => {
  expect((await build([creating(40)], VOLUME, open(VOLUME))).built).not.toBeInstanceOf(Error);
  expect((await build([creating(40)], VOLUME, null)).built).toMatchObject({ code: "NO_ROUTE" });
  expect((await build([creating(40)], VOLUME, undefined)).built).toMatchObject({ code: "STATE_STALE" });
});

test("accounts that only the newest balances or prices bring into a trade are read too", async () => {
  const { built, reads } = await build([wrapping(4)], WRAPPED, null, [wrapping(TIGHT)]);
  expect(reads).toEqual([WRAPPED]);
  const { instructions } = readTransaction((built as BuiltTrade).unsignedTransaction);
  expect(instructions.some(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM)).toBe(true);
  const silent = await build([wrapping(4)], WRAPPED, undefined, [wrapping(TIGHT)]);
  expect(silent.built).toMatchObject({ code: "STATE_STALE" });
});

const halvedQuote = (venue: Venue): Venue["quote"] => {
  const { quote } = venue;
  return (state, ask) => {
    const whole = quote(state, ask);
    return { ...whole, outAmount: whole.outAmount / 2n };
  };
};
