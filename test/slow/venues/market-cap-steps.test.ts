import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import type { SwapMode } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { type Build, buildsOf } from "./support/builds.ts";
import { createDammV2Pool, marketCapFee } from "./support/meteora-damm-v2.ts";

/**
 * Trades signed while the price is below the first step of a market-cap schedule, and executed when another's trades have raised it by
 * any number of steps: the program then counts them and takes a power that it did not before. The bound covers the most of it.
 */
const PROGRAM = ".venues/meteora_damm_v2.so";
if (!existsSync(PROGRAM)) console.log(`skipped: ${PROGRAM} absent, so market-cap schedules were not run`);

const ONE = 1n << 64n;
const HELD = 10n ** 17n;
const BUDGET_UNITS = 150;
/** The first copy of the program that keeps a layout version, and where a pool has it. */
const NEWER = ".venues/builds/meteora_damm_v2/20260301";
const LAYOUT_VERSION = 696;
const [FEE_MODE, PERIODS, STEP_BPS, REDUCTION, FIRST_PRICE] = [16, 22, 24, 32, 152];
const MOST_PERIODS = 65_535;
/** Steps reached, and what each takes of the fee: more would leave nothing of it, which the program refuses. Bps. */
const REACHED = [
  { steps: 1, reductions: [1n, 300n, 7_777n] },
  { steps: 3, reductions: [300n] },
  { steps: MOST_PERIODS, reductions: [1n] },
].flatMap(({ steps, reductions }) => reductions.map((reduction) => ({ steps, reduction })));

interface Bench {
  readonly svm: Svm;
  readonly wallet: Address;
  readonly market: Address;
  readonly mints: readonly [Address, Address];
}

function open(volatility: boolean): Bench {
  const svm = new Svm();
  svm.addProgram(DAMM_V2_PROGRAM, PROGRAM);
  const wallet = svm.newWallet();
  const newMint = () => svm.newMint({ decimals: 6, supply: 10n ** 18n });
  const [mintA, mintB] = [newMint(), newMint()];
  for (const mint of [mintA, mintB]) svm.setTokens(wallet, mint, HELD);
  const market = createDammV2Pool(svm, wallet, {
    mintA,
    mintB,
    sqrtPrice: ONE,
    liquidity: (10n ** 13n) << 64n,
    countsSeconds: true,
    collectFeeMode: 0,
    volatility,
    baseFee: marketCapFee(400_000_000n, MOST_PERIODS, 1, 86_400_000, 1n, true),
  });
  return { svm, wallet, market, mints: readMarket(svm, meteoraDammV2, market).market.mints };
}

function swapOf({ svm, wallet, market, mints }: Bench, mode: SwapMode, aToB: boolean, amount: bigint) {
  const { state } = readMarket(svm, meteoraDammV2, market);
  const [inMint, outMint] = aToB ? mints : [mints[1], mints[0]];
  const quote = meteoraDammV2.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
  return meteoraDammV2.swap(state, quote, {
    wallet,
    source: associatedTokenAddress(wallet, inMint, TOKEN_PROGRAM),
    destination: associatedTokenAddress(wallet, outMint, TOKEN_PROGRAM),
    threshold: mode === "exactIn" ? 1n : HELD,
    salt: 0,
    exists: () => true,
  });
}

/** Sets how many steps the price is above the schedule's first one; undefined: it is below. */
function setSteps({ svm, market }: Bench, steps: number | undefined, reduction: bigint, isMigrated: boolean): void {
  const account = svm.get(market)!;
  const { data } = account;
  const view = new DataView(data.buffer, data.byteOffset);
  const { sqrtPrice } = readMarket(svm, meteoraDammV2, market).state.pool;
  const first = steps === undefined ? sqrtPrice + 1_000n : (sqrtPrice * 10_000n) / BigInt(10_000 + steps) - 1_000n;
  data[FEE_MODE!] = 4;
  view.setUint16(PERIODS!, MOST_PERIODS, true);
  view.setUint32(STEP_BPS!, 1, true);
  writeU64(data, REDUCTION!, reduction);
  writeU64(data, FIRST_PRICE!, first & (ONE - 1n));
  writeU64(data, FIRST_PRICE! + 8, first >> 64n);
  if (!isMigrated) data[LAYOUT_VERSION] = 0;
  svm.setAccount(account);
}

const sides = [true, false].flatMap((aToB) => (["exactIn", "exactOut"] as const).map((mode) => ({ aToB, mode })));

/** The largest use of a trade's bound over all steps that the price may be raised by, and which it was. */
function worstOf(bench: Bench, isMigrated: boolean): { readonly share: number; readonly at: string } {
  let worst = { share: 0, at: "" };
  const before = bench.svm.get(bench.market)!;
  const restore = () => bench.svm.setAccount({ ...before, data: before.data.slice() });
  for (const { aToB, mode } of sides)
    for (const { steps, reduction } of REACHED) {
      setSteps(bench, undefined, reduction, isMigrated);
      const { instructions, computeUnits } = swapOf(bench, mode, aToB, 1_000_000_007n);
      // Another's trade in either direction decides which way the volatility is counted.
      for (const anotherSells of [true, false]) {
        restore();
        setSteps(bench, undefined, reduction, isMigrated);
        bench.svm.send(bench.wallet, [...swapOf(bench, "exactIn", anotherSells, 10n ** 11n).instructions]);
        setSteps(bench, steps, reduction, isMigrated);
        const done = bench.svm.simulate(bench.wallet, [setComputeUnitLimit(1_400_000), ...instructions]);
        if (!done.ok) throw new Error(`${mode} at ${steps} steps: ${done.error} ${done.logs.slice(-2).join(" ")}`);
        const share = (done.computeUnits - BUDGET_UNITS) / computeUnits;
        if (share > worst.share)
          worst = { share, at: `${mode} ${aToB ? "A to B" : "B to A"}, ${steps} steps of ${reduction} bps` };
      }
      restore();
    }
  return worst;
}

const layoutsOf = ({ isMain, path }: Build): readonly boolean[] => (isMain || path >= NEWER ? [true, false] : [false]);

describe.skipIf(!existsSync(PROGRAM))("a market-cap schedule whose first price another's trade passes", () => {
  it.each(buildsOf("meteora_damm_v2"))("uses no more than was signed ($path)", (build) => {
    const shares: number[] = [];
    for (const volatility of [false, true])
      for (const isMigrated of layoutsOf(build)) {
        const bench = open(volatility);
        bench.svm.addProgram(DAMM_V2_PROGRAM, build.path);
        const clock = bench.svm.clock();
        bench.svm.setClock({ ...clock, unixTimestamp: clock.unixTimestamp + 60n });
        const { share, at } = worstOf(bench, isMigrated);
        const kind = `${volatility ? "volatility, " : ""}${isMigrated ? "" : "not migrated, "}`;
        console.log(`market-cap steps | ${build.path} | ${kind}${at} | use / bound ${share.toFixed(3)}`);
        shares.push(share);
      }
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
  });
});
