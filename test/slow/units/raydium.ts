import { writeU64 } from "../../../src/primitives/bytes.ts";
import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import { AMM_V4_PROGRAM } from "../../../src/venues/raydium-amm-v4/layout.ts";
import { raydiumAmmV4 } from "../../../src/venues/raydium-amm-v4/venue.ts";
import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { raydiumClmm } from "../../../src/venues/raydium-clmm/venue.ts";
import { CPMM_PROGRAM, decodeCpmmMarket } from "../../../src/venues/raydium-cpmm/layout.ts";
import { raydiumCpmm } from "../../../src/venues/raydium-cpmm/venue.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { buildsOf } from "../venues/support/builds.ts";
import { newKey } from "../venues/support/random-keys.ts";
import { asOlderInstruction, writeAmmV4Pool } from "../venues/support/raydium-amm-v4.ts";
import {
  addClmmLiquidity,
  createClmmPool,
  METAPLEX_PROGRAM,
  writeClmmConfig,
  writeRewards,
} from "../venues/support/raydium-clmm.ts";
import { createCpmmPool, writeCpmmConfig } from "../venues/support/raydium-cpmm.ts";
import { buildsBeside, drawChain, drawMint, fund, HELD, install, type Searched } from "./stage.ts";
import { drawTick, spreadPositions } from "./ticks.ts";

/** Where a pool counts what it owes in fees, of each mint one after the other. */
const OWED_FEES = [341, 357] as const;
const AMOUNT_OFFSET = 64;

/** The venue with its instructions rewritten to those that the public builds know. */
const olderAmm: Venue = {
  ...(raydiumAmmV4 as Venue),
  swap(state, quote, terms) {
    const leg = (raydiumAmmV4 as Venue).swap(state, quote, terms);
    return { ...leg, instructions: leg.instructions.map(asOlderInstruction) };
  },
};

export const ammV4: Searched = {
  name: "raydium_amm_v4",
  builds: buildsOf("raydium_amm_v4"),
  open(genes, { path }) {
    const { svm, random, wallet } = drawChain(genes);
    install(svm, AMM_V4_PROGRAM, path);
    const spl = () => svm.newMint({ decimals: genes.pick([0, 6, 9]), address: newKey(random) });
    const mints = [spl(), spl()] as const;
    const amounts = [genes.magnitude(1n << 63n), genes.magnitude(1n << 63n)] as const;
    const owed = (held: bigint) => (genes.chance(0.5) ? 0n : genes.magnitude(held / 4n + 1n));
    const pool = writeAmmV4Pool(svm, {
      mints,
      amounts,
      fee: genes.pick([
        [25n, 10_000n],
        [25n, 10_000n],
        [0n, 10_000n],
        [1n, 25n],
        [2_499n, 999_983n],
      ] as const),
      owed: [owed(amounts[0]), owed(amounts[1])],
      status: genes.pick([6n, 7n]),
      openTime: svm.clock().unixTimestamp - 5n,
    });
    return {
      svm,
      venue: olderAmm,
      market: pool,
      wallet,
      fund: () => fund(svm, wallet, mints, 1n << 62n),
      most: (mint, mode) => (mode === "exactIn" ? 1n << 62n : amounts[mints[0] === mint ? 0 : 1]),
    };
  },
};

export const cpmm: Searched = {
  name: "raydium_cpmm",
  builds: buildsOf("raydium_cpmm"),
  open(genes, { path }) {
    const chain = drawChain(genes);
    const { svm, wallet } = chain;
    install(svm, CPMM_PROGRAM, ".venues/raydium_cpmm.so");
    const config = writeCpmmConfig(svm, genes.between(0, 9), {
      trade: genes.pick([0n, 1n, 2_500n, 40_000n, 999_999n]),
      protocol: genes.pick([0n, 120_000n, 1_000_000n]),
      fund: genes.pick([0n, 40_000n]),
      creator: 0n,
    });
    const mints = [drawMint(chain, genes), drawMint(chain, genes)] as const;
    const pool = createCpmmPool(svm, { creator: svm.newWallet(), config, mints, amounts: [10n ** 12n, 10n ** 12n] });
    install(svm, CPMM_PROGRAM, path);
    const market = decodeCpmmMarket(svm.get(pool)!)!;
    const held = [genes.magnitude(1n << 62n), genes.magnitude(1n << 62n)] as const;
    for (const side of [0, 1] as const) {
      const vault = svm.get(market.vaults[side])!;
      writeU64(vault.data, AMOUNT_OFFSET, held[side]);
      svm.setAccount(vault);
    }
    const account = svm.get(pool)!;
    for (const at of OWED_FEES)
      for (const side of [0, 1] as const)
        writeU64(account.data, at + 8 * side, genes.chance(0.5) ? 0n : genes.magnitude(held[side] / 8n + 1n));
    svm.setAccount(account);
    return {
      svm,
      venue: raydiumCpmm as Venue,
      market: pool,
      wallet,
      fund: () => fund(svm, wallet, mints),
      most: (mint, mode) => (mode === "exactIn" ? HELD : held[market.mints[0] === mint ? 0 : 1]),
    };
  },
};

const METAPLEX = ".venues/metaplex_token_metadata.so";

export const clmm: Searched = {
  name: "raydium_clmm",
  builds: buildsBeside(METAPLEX, buildsOf("raydium_clmm")),
  open(genes, { path }) {
    const chain = drawChain(genes);
    const { svm, wallet } = chain;
    install(svm, CLMM_PROGRAM, ".venues/raydium_clmm.so");
    install(svm, METAPLEX_PROGRAM, METAPLEX);
    const spacing = genes.pick([1, 1, 1, 2, 10, 60, 120]);
    const config = writeClmmConfig(svm, 7, spacing, genes.pick([100, 2_500, 20_000]));
    const mints = [drawMint(chain, genes), drawMint(chain, genes)] as const;
    const creator = svm.newWallet(1n << 55n);
    fund(svm, creator, mints, 1n << 62n);
    const tick = drawTick(genes);
    const pool = createClmmPool(svm, creator, config, spacing, mints, clmmSqrtPrice(tick) + 1n);
    spreadPositions(genes, tick, spacing, Math.floor(MAX_TICK / spacing) * spacing, (low, high, liquidity) =>
      addClmmLiquidity(svm, creator, pool, low, high, liquidity),
    );
    if (genes.chance(0.4)) {
      // Far more liquidity than tokens would give over a wide range.
      const low = Math.floor(tick / spacing) * spacing;
      fund(svm, creator, mints, 1n << 62n);
      addClmmLiquidity(svm, creator, pool, low, low + spacing * genes.pick([1, 2, 9]), genes.magnitude(1n << 74n));
    }
    const rewards = genes.pick([0, 0, 0, 1, 3]);
    if (rewards > 0) writeRewards(svm, pool.address, rewards);
    install(svm, CLMM_PROGRAM, path);
    const { unixTimestamp, slot, epoch } = svm.clock();
    svm.setClock({ epoch, slot: slot + 17n, unixTimestamp: unixTimestamp + 7n });
    return {
      svm,
      venue: raydiumClmm as Venue,
      market: pool.address,
      wallet,
      fund: () => fund(svm, wallet, mints, 1n << 62n),
      most: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 4n,
    };
  },
};
