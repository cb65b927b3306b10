import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../../../src/primitives/address.ts";
import { createRandom } from "../../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../../src/solana/programs.ts";
import { DBC_PROGRAM } from "../../../../src/venues/meteora-dbc/layout.ts";
import { meteoraDbc } from "../../../../src/venues/meteora-dbc/venue.ts";
import { PUMP_PROGRAM } from "../../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_PROGRAM } from "../../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../../src/venues/pump-swap/venue.ts";
import { AMM_V4_PROGRAM } from "../../../../src/venues/raydium-amm-v4/layout.ts";
import { raydiumAmmV4 } from "../../../../src/venues/raydium-amm-v4/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../../src/venues/shared/pump-fees.ts";
import type { Venue } from "../../../../src/venues/venue.ts";
import { runTrades } from "../../../conformance/trades.ts";
import type { Svm } from "../../../support/svm.ts";
import { createDbcPool, METAPLEX_PROGRAM, stopsAtItsEnd } from "./meteora-dbc.ts";
import { fundPlenty, PLAIN_MARKETS } from "./open-markets.ts";
import { LATEST_SETTINGS_SIZE, writeCoin, writePumpSettings } from "./pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "./pump-swap.ts";
import { asOlderInstruction, writeAmmV4Pool } from "./raydium-amm-v4.ts";

/** A market of a venue whose program the test replaces. */
export interface ReplaceableMarket {
  readonly venue: Venue;
  readonly program: Address;
  readonly name: string;
  /** The build that the market is made on, and that comes back at the end. */
  readonly main: string;
  /** Programs that it calls, with their files. */
  readonly calls: readonly (readonly [Address, string])[];
  /** Builds that take its place. */
  readonly copies: readonly string[];
  /** Makes one. `fund` gives the owner plenty of both mints again. */
  place(
    svm: Svm,
    owner: Address,
  ): { readonly address: Address; readonly mints: readonly [Address, Address]; readonly fund: () => void };
  /** True of copies that amounts are known to differ on: they are withheld. */
  readonly differsOn?: (copy: string) => boolean;
  /** Upper bound of what a trade gives or takes of a mint. Base units. */
  readonly most: (mint: Address) => bigint;
}

const BUILDS = ".venues/builds";
const STAND_INS = "src/sandbox/programs";
const VARIANTS = "test/fixtures/programs/pump";
/** Copies of a program in folders beside. */
const MORE: Readonly<Record<string, string>> = { orca_whirlpool: ".venues/whirlpool" };
const DEPTH = 10n ** 13n;
const HELD = 10n ** 18n;
const SOL = 10n ** 9n;
const ONE = 1n << 64n;
/** Made on a curve before its program is replaced. */
const EARLIER_TRADES = 6;

const METAPLEX = [METAPLEX_PROGRAM, ".venues/metaplex_token_metadata.so"] as const;
const PUMP_FEES = [PUMP_FEE_PROGRAM, ".venues/pump_fees_2026.so"] as const;

/** Files of a folder, sorted; none if there is no such folder. */
function filesIn(folder: string | undefined): readonly string[] {
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".so"))
    .sort()
    .map((file) => join(folder, file));
}

/** Every copy that there is, those included that lack the instruction or use twice the compute. */
const copiesOf = (name: string) => [...filesIn(join(BUILDS, name)), ...filesIn(MORE[name])];

/** Beside Pump's public builds, the stand-in and altered builds of it. */
const standInsOf = (name: string) => [
  join(STAND_INS, `${name}.so`),
  ...filesIn(VARIANTS).filter((path) => path.includes(`${name}_`)),
];

const plain: readonly ReplaceableMarket[] = PLAIN_MARKETS.map((kind) => ({
  ...kind,
  main: `.venues/${kind.name}.so`,
  calls: kind.calls.map(([id, file]) => [id, `.venues/${file}.so`] as const),
  copies: copiesOf(kind.name),
  most: () => DEPTH / 10n,
  place(svm, owner) {
    const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
    const fund = () => fundPlenty(svm, owner, mints);
    fund();
    return { address: kind.open(svm, owner, mints, DEPTH), mints, fund };
  },
}));

const dbc: ReplaceableMarket = {
  venue: meteoraDbc,
  program: DBC_PROGRAM,
  name: "meteora_dbc",
  main: ".venues/meteora_dbc.so",
  calls: [METAPLEX],
  copies: copiesOf("meteora_dbc"),
  most: (mint) => (mint === SOL_MINT ? SOL : 10n ** 11n),
  // A fresh curve ends without a rest; the one below has been traded on.
  differsOn: (copy) => !stopsAtItsEnd(copy),
  place(svm, owner) {
    const { address, baseMint } = createDbcPool(svm, owner, {
      quoteMint: SOL_MINT,
      baseFee: { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 },
      volatility: true,
      collectFeeMode: 0,
      countsSeconds: true,
      token2022: false,
      decimals: 6,
      migrationThreshold: 200n * SOL,
      sqrtStartPrice: (ONE * 3n) / 100n,
      curve: [{ sqrtPrice: (ONE * 6n) / 100n, liquidity: (10n ** 13n) << 64n }],
    });
    const mints = [baseMint, SOL_MINT] as const;
    const fund = () => fundPlenty(svm, owner, mints);
    fund();
    const traded = { svm, venue: meteoraDbc, market: address, pair: { a: baseMint, b: SOL_MINT }, wallet: owner };
    const plan = { random: createRandom(1), count: EARLIER_TRADES, limit: dbc.most, before: fund };
    runTrades({ ...traded, ...plan, guards: false, shadow: false });
    return { address, mints, fund };
  },
};

/** Through the instructions that every public copy knows. */
const ammV4: ReplaceableMarket = {
  venue: {
    ...raydiumAmmV4,
    swap(state: Parameters<typeof raydiumAmmV4.swap>[0], quote, terms) {
      const leg = raydiumAmmV4.swap(state, quote as Parameters<typeof raydiumAmmV4.swap>[1], terms);
      return { ...leg, instructions: leg.instructions.map(asOlderInstruction) };
    },
  } as Venue,
  program: AMM_V4_PROGRAM,
  name: "raydium_amm_v4",
  main: ".venues/raydium_amm_v4.so",
  calls: [],
  copies: copiesOf("raydium_amm_v4"),
  most: () => DEPTH / 10n,
  place(svm, owner) {
    const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
    const pool = {
      amounts: [DEPTH, DEPTH],
      fee: [25n, 10_000n],
      owed: [777n, 1_234n],
      status: 6n,
      openTime: 0n,
    } as const;
    return { address: writeAmmV4Pool(svm, { mints, ...pool }), mints, fund: () => fundPlenty(svm, owner, mints) };
  },
};

const pumpCurve: ReplaceableMarket = {
  venue: pumpFun,
  program: PUMP_PROGRAM,
  name: "pump_fun",
  main: ".venues/pump_fun_2026.so",
  calls: [PUMP_FEES],
  copies: [".venues/pump_fun_2024.so", ...copiesOf("pump_fun"), ...standInsOf("pump_fun")],
  most: (mint) => (mint === SOL_MINT ? SOL : 10n ** 13n),
  place(svm, owner) {
    // As long as every build wants them.
    writePumpSettings(svm, { size: LATEST_SETTINGS_SIZE });
    const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n });
    const address = writeCoin(svm, {
      mint,
      virtualTokens: 779_900_000_000_000n,
      virtualQuote: 41n * SOL,
      realTokens: 500_000_000_000_000n,
      realQuote: 11n * SOL,
      creator: svm.newAddress(),
    });
    return { address, mints: [mint, SOL_MINT], fund: () => fundPlenty(svm, owner, [mint]) };
  },
};

const pumpPool: ReplaceableMarket = {
  venue: pumpSwap,
  program: PUMP_SWAP_PROGRAM,
  name: "pump_swap",
  main: ".venues/pump_swap_2026.so",
  calls: [PUMP_FEES],
  copies: [...copiesOf("pump_swap"), ...standInsOf("pump_swap")],
  most: (mint) => (mint === SOL_MINT ? SOL : 10n ** 12n),
  place(svm, owner) {
    writePumpSwapSettings(svm, { quoteMint: SOL_MINT });
    const base = svm.newMint({ decimals: 6, supply: 10n ** 15n });
    const coinCreator = svm.newAddress();
    const amounts = { baseAmount: 206_900_000_000_000n, quoteAmount: 84n * SOL };
    const address = writePumpPool(svm, { base, quote: SOL_MINT, coinCreator, ...amounts });
    const mints = [base, SOL_MINT] as const;
    return { address, mints, fund: () => fundPlenty(svm, owner, mints) };
  },
};

export const REPLACEABLE_MARKETS: readonly ReplaceableMarket[] = [...plain, dbc, ammV4, pumpCurve, pumpPool];

/** Files that a market needs and that are absent. */
export function absentFor({ main, calls }: ReplaceableMarket): readonly string[] {
  return [main, ...calls.map(([, path]) => path)].filter((path) => !existsSync(path));
}
