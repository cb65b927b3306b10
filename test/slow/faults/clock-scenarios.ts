import { landed, onRig, type Scenario, submitUntilEnded, trades } from "./scenario.ts";
import { SkewedClient } from "./skewed-client.ts";
import { SlotWatch } from "./slot-watch.ts";
import type { BuildEntry } from "./trader.ts";

const SKEWS_MS = [30_000, -30_000] as const;
const CLIENT_SKEWS_MS = [3_600_000, -3_600_000] as const;
/** Kept between `expiresAt` and the end of the blockhash by default. */
const MARGIN_MS = 2_000;

/** Clocks that are wrong. */
export const CLOCK_SCENARIOS: readonly Scenario[] = [
  {
    row: 12,
    promise: "clocks of servers wrong by ±30 s, of clients by ±1 h",
    target: "0 wrong expiry rulings; expiresAt within 1 s of the true end less 2 s",
    run: ({ seed, scale }) =>
      onRig({ seed, processes: 2, clockSkewsMs: SKEWS_MS, traders: 2 }, async (rig, expect) => {
        const watch = await SlotWatch.start(rig.sandbox);
        const clients = await Promise.all(
          CLIENT_SKEWS_MS.map((skewMs, i) => SkewedClient.start(rig, rig.services[i]!, seed * 1_000 + 500 + i, skewMs)),
        );
        const built: { readonly build: BuildEntry; readonly skewMs: number }[] = [];
        const buildOnEach = async () => {
          for (const [s, service] of rig.services.entries())
            built.push({ build: await rig.built(rig.traders[0]!, rig.buy(), service), skewMs: SKEWS_MS[s]! });
        };
        try {
          await buildOnEach();
          const good = await trades(rig, 8 * scale);
          await buildOnEach();
          const mint = rig.buy().body.mint as string;
          const bought = await Promise.all(clients.map((client) => client.buy(mint)));
          await buildOnEach();
          for (const proxy of rig.proxies) await proxy.set({ sends: "drop" });
          const [dropped, missed] = await Promise.all([
            Promise.all(
              rig.services.map(async (service, i) => {
                const one = await rig.built(rig.traders[i]!, rig.buy(i), service);
                built.push({ build: one, skewMs: SKEWS_MS[i]! });
                return Promise.all(
                  rig.services.map((other) => submitUntilEnded(rig, rig.traders[i]!, one, 40_000, other)),
                );
              }),
            ),
            Promise.all(clients.map((client) => client.buy(mint))),
          ]);
          const ends = await Promise.all(
            built.map(async ({ build, skewMs }) => {
              const endMs = await watch.endOf(build.lastValidBlockHeight);
              return Math.abs(build.expiresAtMs - skewMs - (endMs - MARGIN_MS));
            }),
          );
          const worst = Math.round(Math.max(...ends));
          const codes = dropped.flat().map(({ error }) => error?.code);
          const outcomes = bought.map(({ outcome }) => outcome);
          const missedOutcomes = missed.map(({ outcome }) => outcome);
          expect(landed(good) === good.length, `${good.length - landed(good)} did not land`);
          expect(
            outcomes.every((outcome) => outcome === "confirmed" || outcome === "finalized"),
            `clients' trades ended as ${outcomes.join(", ")}`,
          );
          expect(
            [...codes, ...missedOutcomes].every((code) => code === "TX_EXPIRED"),
            `never landed, reported as ${[...codes, ...missedOutcomes].join(", ")}`,
          );
          expect(
            missed.every(({ safeToRebuild }) => safeToRebuild),
            "an expired trade was not said to be safe to build again",
          );
          expect(worst <= 1_000, `expiresAt off by ${worst} ms`);
          const sent = good.length + bought.length;
          const never = codes.length + missed.length;
          return `${landed(good) + bought.length} of ${sent} landed; ${never} never landed, all reported so; expiresAt off by ≤ ${worst} ms (${ends.length} builds)`;
        } finally {
          watch.close();
          for (const client of clients) client.close();
        }
      }),
  },
];
