import { expect, test } from "vitest";
import { NO_OWNER } from "../../test/support/no-owner.ts";
import { readSampleMarkets } from "../../test/support/sample-markets.ts";
import { Address } from "../primitives/address.ts";
import { writeU64 } from "../primitives/bytes.ts";
import type { Account } from "../solana/account.ts";
import { messageTemplates } from "../solana/message/message-template.ts";
import { compileMessage } from "../solana/message.ts";
import type { Venue } from "../venues/venue.ts";
import { LiveAccounts } from "./live-accounts.ts";
import { NO_JUDGE } from "./market-judge.ts";
import { MarketWatch } from "./market-watch.ts";

const { clock, markets } = readSampleMarkets();
const sample = markets.find(({ venue }) => venue.id === "raydium_cpmm")!;
const { address } = sample.hot.market;
const own = sample.accounts.get(address)!;
/** Where the pool keeps its config, its fees owed to the protocol, and when it opens. */
const [CONFIG, OWED, OPENS] = [8, 341, 373];

/** The sample, watched on accounts in memory; counts how often its market was decoded, and asked what it needs. */
async function watched() {
  let report: (address: Address, account: Account | null | undefined) => void = () => {};
  const decodes = { count: 0 };
  const needs = { count: 0 };
  const venue: Venue = {
    ...sample.venue,
    decode(account, pair) {
      decodes.count += 1;
      return sample.venue.decode(account, pair);
    },
    needs(market, have) {
      needs.count += 1;
      return sample.venue.needs(market, have);
    },
  };
  const live = new LiveAccounts({
    onAccount: (listener: typeof report) => {
      report = listener;
    },
    follow: async (addresses: readonly Address[]) => {
      for (const one of addresses) report(one, sample.accounts.get(one) ?? null);
    },
    unfollow() {},
  } as never);
  const found = { venue, account: own, market: sample.hot.market } as never;
  const watch = new MarketWatch({ found, live, judge: NO_JUDGE, owner: NO_OWNER, warn() {} });
  await watch.hold(sample.addresses);
  const hot = () => {
    const reading = watch.read();
    if (reading.kind !== "hot") throw new Error(reading.kind);
    return reading.hot;
  };
  return {
    ...{ decodes, needs, watch, hot },
    report: (account: Account) => report(address, account),
    reportOf: (one: Address, account: Account | undefined) => report(one, account),
  };
}

function changed(at: number, value: bigint): Account {
  const data = own.data.slice();
  writeU64(data, at, value);
  return { ...own, data };
}

test("a change outside the decoded bytes keeps the market, and its state is read again", async () => {
  const { decodes, hot, report } = await watched();
  const before = hot();
  for (const [at, value] of [
    [OWED, 5n],
    [OPENS, 7n],
    [OWED, 6n],
  ] as const) {
    report(changed(at, value));
    const now = hot();
    expect(now.market).toBe(before.market);
    expect(now.state).not.toBe(before.state);
    expect(now.state).toEqual(
      sample.venue.read(now.market, {
        get: (one) => (one === address ? changed(at, value) : sample.accounts.get(one)),
      }),
    );
  }
  expect(decodes.count).toBe(0);
});

test("another config is another market", async () => {
  const { decodes, watch, report } = await watched();
  report(changed(CONFIG, 1n));
  expect(watch.read().kind).toBe("lacking");
  expect(decodes.count).toBe(1);
});

test("an account that is no longer a pool, or has another owner, closes the market; one that is again opens it", async () => {
  const { watch, hot, report } = await watched();
  const before = hot();
  for (const gone of [changed(0, 0n), { ...own, owner: address }, { ...own, data: own.data.slice(0, 600) }]) {
    report(gone);
    expect(watch.read()).toMatchObject({ kind: "fault", closed: true });
    report(changed(OWED, 5n));
    expect(hot().market).toEqual(before.market);
  }
});

test("a state that is read again without a gap is not asked what it needs", async () => {
  const { needs, hot, report } = await watched();
  hot();
  needs.count = 0;
  for (const owed of [5n, 6n, 7n]) {
    report(changed(OWED, owed));
    hot();
  }
  expect(needs.count).toBe(0);
});

test("an account that is no longer known is lacking, and the market is hot once it is known again", async () => {
  const { watch, hot, reportOf } = await watched();
  const before = hot();
  for (const one of sample.addresses) {
    const account = sample.accounts.get(one);
    if (account == null || one === address) continue;
    reportOf(one, undefined);
    expect(watch.read()).toEqual({ kind: "lacking", addresses: [one] });
    reportOf(one, account);
    expect(hot().state).toEqual(before.state);
  }
});

test("the messages of a market that is released are laid out anew, so that nothing keeps the market in memory", async () => {
  const { watch, hot } = await watched();
  const { venue, market, state } = hot();
  const [inMint, outMint] = market.mints;
  const quote = venue.quote(state, { mode: "exactIn", inMint, outMint, amount: 1_000_000n, clock });
  const [wallet, source, destination] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte)));
  const own = { wallet: wallet!, source: source!, destination: destination! };
  const { instructions } = venue.swap(state, quote, { ...own, threshold: 1n, salt: 0, exists: () => true });
  const plan = { payer: own.wallet, instructions, blockhash: new Uint8Array(32), lookupTables: [] };
  const message = compileMessage({ ...plan, kind: address });
  expect(messageTemplates.fill(address, plan, 0)).toEqual(message);
  watch.release();
  expect(messageTemplates.fill(address, plan, 0)).toBeUndefined();
});
