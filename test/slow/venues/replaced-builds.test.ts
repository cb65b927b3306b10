import { existsSync } from "node:fs";
import { basename } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { ShadowEngine } from "../../../src/shadow/engine/shadow-engine.ts";
import type { LiveMarket } from "../../../src/shadow/live-market.ts";
import { MarketChecks } from "../../../src/shadow/market-checks.ts";
import { readMarket, runTrades } from "../../conformance/trades.ts";
import { eventually } from "../../support/eventually.ts";
import { codeOf } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { absentFor, REPLACEABLE_MARKETS, type ReplaceableMarket } from "./support/replaceable-markets.ts";

const TRADES = 12;

const cases = REPLACEABLE_MARKETS.flatMap((kind) => {
  const missing = absentFor(kind);
  if (missing.length > 0)
    console.log(`skipped: ${missing.join(", ")} absent, so no build of ${kind.name} was replaced`);
  return missing.length > 0 ? [] : kind.copies.filter(existsSync).map((path) => ({ kind, path, name: basename(path) }));
});

/** These trades go beyond the table's bound on purpose: they are not the report's. */
beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));

const open: { close(): void }[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const one of open.splice(0)) one.close();
});

/** A market on the main build, and checks of it on whatever build is deployed. */
function openMarket({ venue, program, main, calls, place }: ReplaceableMarket) {
  const svm = new Svm();
  for (const [id, path] of [[program, main] as const, ...calls]) svm.addProgram(id, path);
  const wallet = svm.newWallet(10n ** 15n);
  const { address: market, mints, fund } = place(svm, wallet);
  fund();
  let slot = 1n;
  const engine = new ShadowEngine({ venues: [venue], cpuMs: () => 0, nowMs: () => 0, cpuPercent: 0 });
  const checks = new MarketChecks({
    isGuarding: true,
    isUp: () => true,
    now: Date.now,
    log: () => {},
    head: { clock: () => svm.clock(), rentExemption: (space) => svm.rent(space) },
    send: async (order) => engine.perform(order),
    fetchAccounts: async (addresses) => ({ accounts: addresses.map((address) => svm.get(address)) }),
    programs: {
      follow: async () => {},
      get: (id) => (svm.get(id) === null ? null : { id, isUpgradeable: true, slot: id === program ? slot : 1n }),
      fetchCode: async (id) => ({
        build: { id, isUpgradeable: true, slot: id === program ? slot : 1n },
        code: codeOf(svm, id).code,
      }),
    },
  });
  open.push(checks);
  const pair = { a: mints[0], b: mints[1] };
  const held = new Set([market]);
  const view = { get: (address: typeof market) => (held.has(address) ? svm.get(address) : undefined) };
  const decoded = readMarket(svm, venue, market, pair).market;
  for (let missing = venue.needs(decoded, view); missing.length > 0; missing = venue.needs(decoded, view))
    for (const address of missing) held.add(address);
  const live: LiveMarket = { venue, address: market, pair, held, view: svm, judged: () => {} };
  const deploy = (path: string) => {
    svm.addProgram(program, path);
    slot += 1n;
    checks.noteReplaced({ id: program, isUpgradeable: true, slot });
  };
  return { svm, wallet, market, pair, checks, live, deploy, fund };
}

describe.runIf(cases.length > 0)("real builds, one deployed over the other", () => {
  it.each(cases)(
    "$kind.name $name: nothing is offered that differs, fails or runs out of units",
    async ({ kind, path }) => {
      const { svm, wallet, market, pair, checks, live, deploy, fund } = openMarket(kind);
      checks.begin(live);
      await checks.settled([live], 60_000);
      expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: true } });

      deploy(path);
      expect(checks.standingOf(live).withheld).toMatch(/was replaced at slot/);
      await eventually(() => expect(checks.standingOf(live).withheld ?? "").not.toMatch(/was replaced at slot/));
      const { withheld, backing, unitsScale } = checks.standingOf(live);
      if (kind.differsOn?.(path)) expect(withheld).toBeDefined();
      if (withheld === undefined) {
        expect(backing.checked).toBe(true);
        const outcomes = runTrades({
          svm,
          venue: kind.venue,
          market,
          pair,
          wallet,
          random: createRandom(path.length),
          count: TRADES,
          limit: kind.most,
          before: fund,
          guards: false,
          shadow: false,
        });
        for (const { quoted, executed, failure, computeUnits, computeUnitBound } of outcomes) {
          expect([executed, failure]).toEqual([quoted, undefined]);
          expect(computeUnits).toBeLessThanOrEqual(computeUnitBound * unitsScale);
        }
      } else expect(withheld).toMatch(/differs from the deployed program/);
      const reason = withheld?.replace(/^.*?(?=the program (fails|moves))/, "").slice(0, 160);
      console.log(`${path}: ${reason ?? `offered, units × ${unitsScale.toFixed(2)}`}`);

      deploy(kind.main);
      await eventually(() =>
        expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: true } }),
      );
    },
  );
});
