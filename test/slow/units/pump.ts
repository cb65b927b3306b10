import { SOL_MINT } from "../../../src/solana/programs.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../src/venues/pump-swap/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import type { Build } from "../venues/support/builds.ts";
import { type PumpBuilds, pumpBuildsOf } from "../venues/support/pump-builds.ts";
import { CURVE_SIZES, writeCoin, writePumpSettings } from "../venues/support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "../venues/support/pump-swap.ts";
import { newKey } from "../venues/support/random-keys.ts";
import type { Genes } from "./genes.ts";
import { drawChain, drawMint, fund, install, type Searched } from "./stage.ts";

const MOST = 1n << 60n;
/** Those that name the token that a coin is priced in: a shorter account would be one priced in SOL that holds none. */
const TOKEN_CURVE_SIZES = CURVE_SIZES.filter((size) => size >= 115);

function chainOf(genes: Genes, build: Build) {
  const chain = drawChain(genes);
  const { fun, swap, fees } = build as PumpBuilds;
  install(chain.svm, PUMP_SWAP_PROGRAM, swap);
  install(chain.svm, PUMP_PROGRAM, fun);
  install(chain.svm, PUMP_FEE_PROGRAM, fees);
  return chain;
}

export const swap: Searched = {
  name: "pump_swap",
  builds: pumpBuildsOf("pump_swap"),
  open(genes, build) {
    const chain = chainOf(genes, build);
    const { svm, random, wallet } = chain;
    const base = drawMint(chain, genes, false);
    const quote = genes.chance(0.5) ? SOL_MINT : drawMint(chain, genes, false);
    const cashback = genes.chance(0.3);
    writePumpSwapSettings(svm, {
      creatorFeeConfigurable: genes.chance(0.5),
      buybackBps: genes.pick([0n, 1n, 2_000n, 10_000n]),
      quoteMint: quote,
    });
    const market = writePumpPool(svm, {
      base,
      quote,
      baseAmount: genes.magnitude(MOST),
      quoteAmount: genes.magnitude(MOST),
      size: genes.pick([300, 300, 300, 261, 245, 211]),
      ...(genes.chance(0.15) ? {} : { coinCreator: newKey(random) }),
      mayhem: genes.chance(0.3),
      cashback,
      virtualQuote: genes.chance(0.4) ? genes.magnitude(MOST) : 0n,
      creatorFeeBps: cashback ? 0n : genes.pick([0n, 1n, 500n]),
      holderReward: !cashback && genes.chance(0.3),
      withoutVault: genes.chance(0.25),
    });
    return {
      svm,
      venue: pumpSwap as Venue,
      market,
      wallet,
      fund: () => fund(svm, wallet, [base, quote], 1n << 62n),
      most: () => MOST,
    };
  },
};

export const curve: Searched = {
  name: "pump_fun",
  builds: pumpBuildsOf("pump_fun"),
  open(genes, build) {
    const chain = chainOf(genes, build);
    const { svm, random, wallet } = chain;
    const mint = drawMint(chain, genes, false);
    const quote = genes.chance(0.5) ? SOL_MINT : drawMint(chain, genes, false);
    const cashback = genes.chance(0.3);
    writePumpSettings(svm, {
      creatorFeeConfigurable: genes.chance(0.5),
      buybackBps: genes.pick([0n, 1n, 2_000n, 10_000n]),
      quoteMints: quote === SOL_MINT ? [] : [quote],
    });
    const [realTokens, realQuote] = [genes.magnitude(MOST), genes.magnitude(MOST)];
    const market = writeCoin(svm, {
      mint,
      ...(quote === SOL_MINT ? {} : { quoteMint: quote }),
      virtualTokens: realTokens + genes.magnitude(MOST),
      virtualQuote: realQuote + genes.magnitude(MOST),
      realTokens,
      realQuote,
      ...(genes.chance(0.15) ? {} : { creator: newKey(random) }),
      withoutVault: genes.chance(0.25),
      mayhem: genes.chance(0.3),
      cashback,
      holderReward: !cashback && genes.chance(0.3),
      creatorFeeBps: cashback ? 0n : genes.pick([0n, 1n, 500n]),
      size: genes.chance(0.6) ? 166 : genes.pick(quote === SOL_MINT ? CURVE_SIZES : TOKEN_CURVE_SIZES),
      supply: 1n << 62n,
    });
    return {
      svm,
      venue: pumpFun as Venue,
      market,
      pair: { a: quote, b: mint },
      wallet,
      fund: () => fund(svm, wallet, [mint, quote], 1n << 62n),
      most: () => MOST,
    };
  },
};
