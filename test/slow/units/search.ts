import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { MAX_COMPUTE_UNITS, setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { leanest, type SwapMode } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import type { Build } from "../venues/support/builds.ts";
import { releaseRuntimes } from "../venues/support/runtimes.ts";
import { Genes } from "./genes.ts";
import type { Searched, Stage } from "./stage.ts";

/** What a trade used of the units that its venue says it takes at most. */
export interface Use {
  readonly used: number;
  readonly bound: number;
  /** The trade, in words. */
  readonly trade: string;
}

/** One of the four kinds of trade. */
export interface Kind {
  readonly mode: SwapMode;
  /** Index of the input's mint. */
  readonly from: 0 | 1;
}

export interface SearchPlan {
  readonly searched: Searched;
  readonly build: Build;
  readonly kind: Kind;
  readonly random: Random;
  readonly steps: number;
}

/** Units the compute-budget instruction itself uses. */
const BUDGET_UNITS = 150;
/** Steps between collections: runtimes are native memory. */
const STEPS_KEPT = 25;
/** Share of the steps that draw anew, before the climb, and of the climb's steps that stay on the market. */
const DRAWN_SHARE = 0.25;
const SAME_MARKET = 0.75;
/** Share of the trades that are made in the venue's leanest form, where it has one. */
const LEAN_SHARE = 0.3;

interface Found extends Use {
  readonly market: Genes;
  readonly trader: Genes;
}

/**
 * Climbs from trades drawn by chance to one that uses most of its bound: each step changes the trade, or the market too.
 *
 * @returns undefined if the program took none
 */
export async function searchUnits({ searched, build, kind, random, steps }: SearchPlan): Promise<Use | undefined> {
  let best: Found | undefined;
  let open: { readonly genes: Genes; readonly stage: Stage | undefined } | undefined;
  for (let step = 0; step < steps; step++) {
    if (step % STEPS_KEPT === STEPS_KEPT - 1) await releaseRuntimes();
    const from = step < steps * DRAWN_SHARE ? undefined : best;
    const stays = from !== undefined && random.chance(SAME_MARKET);
    const market = stays ? from.market : (from?.market.changed() ?? new Genes(random));
    const trader = from?.trader.changed() ?? new Genes(random);
    if (open?.genes !== market) open = { genes: market, stage: openOrNone(searched, market.restart(), build) };
    const use = open.stage && trade(open.stage, kind, trader);
    if (use === undefined) continue;
    if (best === undefined || use.used * best.bound >= best.used * use.bound) best = { ...use, market, trader };
  }
  return best;
}

function openOrNone(searched: Searched, genes: Genes, build: Build): Stage | undefined {
  try {
    const stage = searched.open(genes, build);
    for (let left = genes.pick([0, 0, 1, 3]); left > 0; left--) tradeBefore(stage, genes);
    return stage;
  } catch {
    // Not every market that can be drawn can be made.
    return undefined;
  }
}

/** A trade of somebody else: prices move, and fees that follow volatility. Time passes. */
function tradeBefore(stage: Stage, genes: Genes): void {
  const { svm } = stage;
  trade(stage, { mode: "exactIn", from: genes.pick([0, 1]) }, genes, true);
  const seconds = BigInt(genes.pick([0, 1, 31, 400]));
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({ slot: slot + seconds * 2n, epoch, unixTimestamp: unixTimestamp + seconds });
}

/** Quotes a drawn trade and executes it without a limit. @returns undefined if it is refused */
function trade(stage: Stage, { mode, from }: Kind, genes: Genes, keeps = false): Use | undefined {
  const { svm, venue, wallet } = stage;
  stage.fund();
  try {
    const { market, state } = readMarket(svm, venue, stage.market, stage.pair);
    const [inMint, outMint] = from === 0 ? market.mints : [market.mints[1], market.mints[0]];
    const amount = genes.magnitude(stage.most(mode === "exactIn" ? inMint : outMint, mode));
    const isLean = genes.chance(LEAN_SHARE);
    const quoted = venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
    const quote = (isLean ? leanest(venue, state, quoted) : undefined) ?? quoted;
    const { inAmount, outAmount } = quote;
    const [source, destination] = [inMint, outMint].map((mint) =>
      associatedTokenAddress(wallet, mint, svm.get(mint)!.owner),
    );
    const leg = venue.swap(state, quote, {
      wallet,
      source: source!,
      destination: destination!,
      threshold: mode === "exactIn" ? outAmount : inAmount,
      salt: 0,
      exists: (address) => svm.get(address) !== null,
    });
    const instructions = [setComputeUnitLimit(MAX_COMPUTE_UNITS), ...leg.instructions];
    const done = keeps ? svm.send(wallet, instructions) : svm.simulate(wallet, instructions);
    if (!done.ok) return undefined;
    const words = `${mode} of mint ${from}, ${inAmount} → ${outAmount}${quote === quoted ? "" : ", lean"}`;
    return { used: done.computeUnits - BUDGET_UNITS, bound: leg.computeUnits, trade: words };
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}
