import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import { DLMM_PROGRAM } from "../../../src/venues/meteora-dlmm/layout.ts";
import { meteoraDlmm } from "../../../src/venues/meteora-dlmm/venue.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import { orcaWhirlpool } from "../../../src/venues/orca-whirlpool/venue.ts";
import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import { raydiumClmm } from "../../../src/venues/raydium-clmm/venue.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { addLiquidity as addBins, createDlmmPair, STRATEGIES } from "./support/meteora-dlmm.ts";
import { addLiquidity, createWhirlpool } from "./support/orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, METAPLEX_PROGRAM, writeClmmConfig } from "./support/raydium-clmm.ts";

/**
 * A market that does not hold what an exact output asks for: anyone can make one whose price reaches its end for less than the most
 * that a trade allows to go in. A program that then gave less would keep the whole bound for it, and the client's check of bounds
 * would not notice. Each way in which a market is traded must be refused, by the newest instruction and by the older one.
 */
const METAPLEX = ".venues/metaplex_token_metadata.so";
const MAIN = { raydium_clmm: ".venues/raydium_clmm.so", orca_whirlpool: ".venues/orca_whirlpool.so" } as const;
/** Base units. */
const HELD = 1n << 60n;
const SMALL = 1_000n;

interface Bench {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Address;
}

function mintsOn(svm: Svm): readonly [Address, Address] {
  return [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })];
}

function fund(svm: Svm, wallet: Address, mints: readonly Address[]): void {
  for (const mint of mints) svm.setTokens(wallet, mint, HELD);
}

/** One position over all ticks, at price 1: its end is the end of prices, which stops a swap without a limit of its own. */
function clmmOn(build: string): Bench {
  const svm = new Svm();
  svm.addProgram(CLMM_PROGRAM, MAIN.raydium_clmm);
  svm.addProgram(METAPLEX_PROGRAM, METAPLEX);
  const mints = mintsOn(svm);
  const config = writeClmmConfig(svm, 7, 1, 100);
  const pool = createClmmPool(svm, svm.newWallet(), config, 1, mints, 1n << 64n);
  const provider = svm.newWallet();
  fund(svm, provider, mints);
  addClmmLiquidity(svm, provider, pool, -MAX_TICK, MAX_TICK, 1_000_000n);
  svm.addProgram(CLMM_PROGRAM, build);
  return { svm, venue: raydiumClmm as Venue, market: pool.address };
}

function whirlpoolOn(build: string): Bench {
  const svm = new Svm();
  svm.addProgram(WHIRLPOOL_PROGRAM, MAIN.orca_whirlpool);
  const mints = mintsOn(svm);
  const [tickSpacing, reach] = [32_896, 427_648];
  const pool = createWhirlpool(svm, {
    creator: svm.newWallet(),
    mints,
    tickSpacing,
    feeRate: 100,
    sqrtPrice: 1n << 64n,
  });
  const provider = svm.newWallet();
  fund(svm, provider, mints);
  addLiquidity(svm, provider, pool, -reach, reach, 1_000_000n);
  svm.addProgram(WHIRLPOOL_PROGRAM, build);
  return { svm, venue: orcaWhirlpool as Venue, market: pool.address };
}

/** So far from price 1 that trades name the bitmap of further arrays: with it, the program sees that none follows. */
function dlmmOn(build: string): Bench {
  const svm = new Svm();
  svm.addProgram(DLMM_PROGRAM, build);
  const wallet = svm.newWallet();
  const [x, y] = mintsOn(svm);
  fund(svm, wallet, [x, y]);
  const activeId = 35_840;
  const shape = {
    binStep: 1,
    baseFactor: 10_000,
    variableFeeControl: 7_500,
    maxVolatility: 150_000,
    filterPeriod: 30,
  };
  const fees = { decayPeriod: 600, reductionFactor: 5_000, limitOrders: false, collectFeeMode: 0, activeId };
  const bench = createDlmmPair(svm, wallet, x, y, { ...shape, ...fees });
  addBins(bench, 1_000_000n, 1_000_000n, {
    low: activeId - 20,
    high: activeId + 20,
    activeId,
    strategy: STRATEGIES.spot,
  });
  return { svm, venue: meteoraDlmm as Venue, market: bench.pair };
}

/** Executes an exact output by one of a market's instructions, with a bound on the input that refuses nothing. */
function buy({ svm, venue, market: address }: Bench, outAmount: bigint, isDown: boolean, isOlder: boolean) {
  const { market, state } = readMarket(svm, venue, address);
  const [first, second] = market.mints;
  const [inMint, outMint] = isDown ? [first, second] : [second, first];
  const wallet = svm.newWallet();
  fund(svm, wallet, market.mints);
  const asked = venue.quote(state, { mode: "exactOut", inMint, outMint, amount: SMALL, clock: svm.clock() });
  const quote = { ...(isOlder ? venue.older!(state, asked)! : asked), outAmount };
  const [source, destination] = [inMint, outMint].map((mint) => associatedTokenAddress(wallet, mint, TOKEN_PROGRAM));
  const ends = { wallet, source: source!, destination: destination! };
  const { instructions } = venue.swap(state, quote, { ...ends, threshold: HELD, salt: 0, exists: () => true });
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...instructions]);
  return { ok: done.ok, gave: svm.tokens(destination!) - HELD, logs: done.logs.join("\n") };
}

const CASES = [
  { name: "raydium_clmm", open: clmmOn, needs: [MAIN.raydium_clmm, METAPLEX] },
  { name: "orca_whirlpool", open: whirlpoolOn, needs: [MAIN.orca_whirlpool] },
  { name: "meteora_dlmm", open: dlmmOn, needs: [".venues/meteora_dlmm.so"] },
] as const;
const FORMS = [false, true].flatMap((isOlder) => [true, false].map((isDown) => ({ isOlder, isDown })));

for (const { name, open, needs } of CASES) {
  const builds = needs.every((path) => existsSync(path)) ? buildsOf(name) : [];
  if (builds.length === 0) console.log(`skipped: ${name}: ${needs.join(", ")}`);
  it.runIf(builds.length > 0).each(builds)(`${name} gives an exact output whole or not at all ($path)`, ({ path }) => {
    for (const { isOlder, isDown } of FORMS) {
      const bench = open(path);
      expect(buy(bench, 2n * SMALL, isDown, isOlder)).toMatchObject({ ok: true, gave: 2n * SMALL });
      // The market holds a million.
      const beyond = buy(bench, 2_000_000n, isDown, isOlder);
      expect(beyond).toMatchObject({ ok: false, gave: 0n });
      // It is the program that refuses, not the wallet or the vault that holds too little.
      expect(beyond.logs).not.toContain("insufficient funds");
    }
  });
}
