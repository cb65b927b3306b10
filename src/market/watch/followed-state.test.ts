import { expect, test } from "vitest";
import { NO_OWNER } from "../../../test/support/no-owner.ts";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { LiveAccounts } from "../live-accounts.ts";
import { NO_JUDGE } from "../market-judge.ts";
import { MarketWatch } from "../market-watch.ts";

const { markets } = readSampleMarkets();
const samples = markets.map((sample) => [sample.name, sample] as const);

test.each(samples)(
  "%s: a watch that holds what the market needs, and no more, reads a followed change",
  async (_, sample) => {
    const { venue, hot, accounts } = sample;
    let report: (address: Address, account: Account | null) => void = () => {};
    const live = new LiveAccounts({
      onAccount: (listener: typeof report) => {
        report = listener;
      },
      follow: async (addresses: readonly Address[]) => {
        for (const one of addresses) report(one, accounts.get(one) ?? null);
      },
    } as never);
    const own = accounts.get(hot.market.address)!;
    const found = { venue, account: own, market: hot.market } as never;
    const watch = new MarketWatch({ found, live, judge: NO_JUDGE, owner: NO_OWNER, warn() {} });
    for (let reading = watch.glance(); reading.kind === "lacking"; reading = watch.glance()) {
      await watch.hold(reading.addresses);
    }
    for (let change = 1n; change <= 3n; change++) {
      report(own.address, { ...own, lamports: own.lamports + change });
      const reading = watch.glance();
      expect(reading.kind).toBe("hot");
      if (reading.kind === "hot") expect(reading.hot.state).toBeDefined();
    }
  },
);
