import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { ShadowEngine } from "../../../src/shadow/engine/shadow-engine.ts";
import { type LiveMarket, MarketChecks } from "../../../src/shadow/market-checks.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import { readMarket, runTrades } from "../../conformance/trades.ts";
import { eventually } from "../../support/eventually.ts";
import { codeOf } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { createDammV2Pool, timeFee } from "./support/meteora-damm-v2.ts";

const PROGRAM = ".venues/meteora_damm_v2.so";
const OTHERS = ".venues/builds/meteora_damm_v2";
const present = existsSync(PROGRAM) && existsSync(OTHERS);
if (!present) console.log(`skipped: ${PROGRAM} or ${OTHERS} is absent, so no real build was replaced by another`);
/** Every copy that there is, those that lack the instruction or use twice the compute included. */
const BUILDS = present ? readdirSync(OTHERS).map((file) => join(OTHERS, file)) : [];
const HELD = 10n ** 18n;
const TRADES = 12;

/** These trades go beyond the table's bound on purpose: they are not the report's. */
beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));

const open: { close(): void }[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const one of open.splice(0)) one.close();
});

/** A pool on the main build, and checks of it on whatever build is deployed. */
function openPool() {
  const svm = new Svm();
  svm.addProgram(DAMM_V2_PROGRAM, PROGRAM);
  const wallet = svm.newWallet();
  const [mintA, mintB] = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })];
  const fund = () => {
    for (const mint of [mintA, mintB]) svm.setTokens(wallet, mint, HELD);
  };
  fund();
  const market = createDammV2Pool(svm, wallet, {
    mintA,
    mintB,
    baseFee: timeFee(2_500_000n, 0, 0n, 0n, false),
    sqrtPrice: 1n << 64n,
    liquidity: (10n ** 13n) << 64n,
    countsSeconds: true,
    collectFeeMode: 0,
  });
  let slot = 1n;
  const engine = new ShadowEngine({ venues: [meteoraDammV2], cpuMs: () => 0, nowMs: () => 0, cpuPercent: 0 });
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
      get: (id) => (svm.get(id) === null ? null : { id, isUpgradeable: true, slot }),
      fetchCode: async (id) => ({ build: { id, isUpgradeable: true, slot }, code: codeOf(svm, id).code }),
    },
  });
  open.push(checks);
  const pair = { a: mintA, b: mintB };
  const live: LiveMarket = {
    venue: meteoraDammV2,
    address: market,
    pair,
    held: [market, ...meteoraDammV2.needs(readMarket(svm, meteoraDammV2, market).market, { get: () => undefined })],
    view: svm,
    judged: () => {},
  };
  const deploy = (path: string) => {
    svm.addProgram(DAMM_V2_PROGRAM, path);
    slot += 1n;
    checks.noteReplaced({ id: DAMM_V2_PROGRAM, isUpgradeable: true, slot });
  };
  return { svm, wallet, market, checks, live, deploy, fund };
}

describe.skipIf(!present)("real builds of meteora_damm_v2, one deployed over the other", () => {
  it.each(BUILDS)("%s: nothing is offered that differs, fails or runs out of units", async (path) => {
    const { svm, wallet, market, checks, live, deploy, fund } = openPool();
    checks.begin(live);
    await checks.settled([live], 60_000);
    expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: true } });

    deploy(path);
    expect(checks.standingOf(live).withheld).toMatch(/was replaced at slot/);
    await eventually(() => expect(checks.standingOf(live).withheld ?? "").not.toMatch(/was replaced at slot/));
    const { withheld, backing, unitsScale } = checks.standingOf(live);
    if (withheld === undefined) {
      expect(backing.checked).toBe(true);
      const outcomes = runTrades({
        svm,
        venue: meteoraDammV2,
        market,
        wallet,
        random: createRandom(path.length),
        count: TRADES,
        limit: () => 10n ** 12n,
        before: fund,
        guards: false,
        shadow: false,
      });
      for (const { quoted, executed, failure, computeUnits, computeUnitBound } of outcomes) {
        expect([executed, failure]).toEqual([quoted, undefined]);
        expect(computeUnits).toBeLessThanOrEqual(computeUnitBound * unitsScale);
      }
    } else expect(withheld).toMatch(/differs from the deployed program/);
    console.log(`${path}: ${withheld?.slice(0, 160) ?? `offered, units × ${unitsScale.toFixed(2)}`}`);

    deploy(PROGRAM);
    await eventually(() =>
      expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: true } }),
    );
  });
});
