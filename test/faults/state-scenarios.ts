import { setTimeout as sleep } from "node:timers/promises";
import type { Rig } from "./rig.ts";
import { durations, landed, onRig, percentile, type Scenario, trades, until } from "./scenario.ts";
import type { BuildEntry, SubmitEntry } from "./trader.ts";

/** Streams with gaps, and chains that change their mind. */
export const STATE_SCENARIOS: readonly Scenario[] = [
  {
    row: 7,
    promise: "notices lost, doubled and out of order",
    target: "prices exact ≤ 2 s after; a quote is never older than 2 s",
    run: ({ seed, scale }) =>
      onRig({ seed, traders: 1 }, async (rig, expect) => {
        await trades(rig, 2);
        for (const notices of ["lossy", "duplicate"] as const) {
          for (const proxy of rig.proxies) await proxy.set({ notices });
          await trades(rig, 6 * scale);
        }
        for (const proxy of rig.proxies) await proxy.heal();
        const healMs = await until(async () => isExact(await exactTrade(rig)), 10_000, 50);
        expect(healMs !== undefined && healMs <= 2_000 + slowestTrade(rig), `prices exact after ${healMs} ms`);
        const again = await exactTrade(rig);
        expect(isExact(again), "a quiet market's price was not exact");
        return `prices exact ${healMs} ms after; submit p99 ${percentile(durations(rig.history.submits), 99)} ms`;
      }),
  },
  {
    row: 8,
    promise: "forks under open trades",
    target: "prices of the branch that stays, 2 slots after; confirmed never taken back",
    run: ({ seed, scale }) =>
      onRig({ seed, confirmedAfterSlots: 12, traders: 2 }, async (rig, expect) => {
        const [mover, trader] = rig.traders as [Rig["traders"][number], Rig["traders"][number]];
        let exact = 0;
        const rounds = 4 * scale;
        for (let i = 0; i < rounds; i++) {
          const big = await rig.built(mover, rig.buy(0, 2));
          // Straight to the chain, once, so that it does not land again after the fork.
          await rig.rpc("sendTransaction", [big.signed, { encoding: "base64", skipPreflight: true }]);
          await sleep(200);
          expect((await rig.sandbox.fork(8)) > 0, "nothing was dropped");
          await sleep(2 * 80 + 60);
          if (isExact(await exactTrade(rig, trader))) exact += 1;
        }
        const entries = rig.history.submits;
        expect(exact === rounds, `${rounds - exact} prices came from a dropped branch`);
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
        return `${exact} of ${rounds} prices exact after a fork; ${landed(entries)} of ${entries.length} landed`;
      }),
  },
];

interface PricedTrade {
  readonly built: BuildEntry;
  readonly entry: SubmitEntry;
}

/** One trade in a market where nobody else trades: what it was told and what it got. */
async function exactTrade(rig: Rig, trader = rig.traders[0]!): Promise<PricedTrade> {
  const built = await rig.built(trader, rig.buy());
  return { built, entry: await trader.submit(rig.services[0]!, built) };
}

function isExact({ built, entry }: PricedTrade): boolean {
  const result = entry.data?.tradeResult;
  return result != null && result.outputAmountRaw === built.estimates.outputAmountRaw;
}

const slowestTrade = (rig: Rig) => Math.max(...durations(rig.history.submits));
