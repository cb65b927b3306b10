import { Address } from "../../primitives/address.ts";
import { hex, textBytes, writeU64 } from "../../primitives/bytes.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import { derive, findPda } from "../../solana/pda.ts";
import { TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import { CPMM_PROGRAM } from "./cpmm.ts";
import type { MintPlan, WorldLedger } from "./genesis-ledger.ts";

/** Raydium's LaunchLab program. */
export const LAUNCHLAB_PROGRAM = Address.of("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj");

const CONFIG_SIZE = 371;
const PLATFORM_SIZE = 944;
const POOL_SIZE = 429;
const MIGRATES_TO_CPMM = 1;

/** Rates in parts per million of what a trade moves in the quote. */
const TRADE_FEE = 2_500n;
const MAX_SHARE_FEE = 10_000n;
const PLATFORM_FEE = 7_500n;
const CREATOR_FEE = 3_000n;

/** How the price follows the tokens sold; the number is the program's own. */
export type LaunchShape = "constantProduct" | "fixedPrice" | "linearPrice";
const SHAPES: Readonly<Record<LaunchShape, number>> = { constantProduct: 0, fixedPrice: 1, linearPrice: 2 };

interface LaunchPlan {
  readonly mint: MintPlan;
  readonly quote: { readonly mint: Address; readonly decimals: number };
  readonly shape: LaunchShape;
  /** Base units of the token: all there are, those the curve sells, and those it has sold. */
  readonly supply: bigint;
  readonly forSale: bigint;
  readonly sold: bigint;
  /** What the curve raises when all are sold, in base units of the quote. */
  readonly toRaise: bigint;
  readonly platform: Address;
  readonly creator: Address;
  /** Who holds the tokens sold so far. */
  readonly holder: Address;
  /** False: the first trade also pays the rent of the creator's fee vault. */
  readonly creatorVault: boolean;
}

/** Puts the fee configuration of every shape for a quote mint. */
export function putLaunchConfigs(ledger: WorldLedger, quoteMint: Address, owner: Address): void {
  for (const shape of Object.keys(SHAPES) as LaunchShape[]) {
    const data = new Uint8Array(CONFIG_SIZE);
    data.set(hex("95089ccaa0fcb0d9"));
    data[16] = SHAPES[shape];
    writeU64(data, 27, TRADE_FEE);
    writeU64(data, 35, MAX_SHARE_FEE);
    data.set(quoteMint.bytes, 83);
    for (const at of [115, 147, 179, 211]) data.set(owner.bytes, at);
    ledger.put(configOf(quoteMint, shape), LAUNCHLAB_PROGRAM, data);
  }
}

/** Puts a launch platform and its fee vaults for the quote mints. */
export function putLaunchPlatform(
  ledger: WorldLedger,
  platform: Address,
  owner: Address,
  quoteMints: readonly Address[],
): void {
  const data = new Uint8Array(PLATFORM_SIZE);
  data.set(hex("a04e8000f853e6a0"));
  for (const at of [16, 48]) data.set(owner.bytes, at);
  writeU64(data, 104, PLATFORM_FEE);
  data.set(textBytes("Sandbox launches"), 112);
  data.set(derive(CPMM_PROGRAM, "amm_config", new Uint8Array(2)).bytes, 688);
  writeU64(data, 720, CREATOR_FEE);
  ledger.put(platform, LAUNCHLAB_PROGRAM, data);
  for (const mint of quoteMints) putFeeVault(ledger, platform, mint);
}

/**
 * Puts a launch in the middle of its sale, with its mint and vaults: the vault holds what the tokens sold so far cost.
 *
 * @returns the pool's address
 */
export function putLaunch(ledger: WorldLedger, plan: LaunchPlan): Address {
  const { mint, quote, sold } = plan;
  const pool = findPda([textBytes("pool"), mint.mint.bytes, quote.mint.bytes], LAUNCHLAB_PROGRAM);
  const authority = derive(LAUNCHLAB_PROGRAM, "vault_auth_seed");
  const [baseVault, quoteVault] = [mint.mint, quote.mint].map((side) =>
    derive(LAUNCHLAB_PROGRAM, "pool_vault", pool.address, side),
  ) as [Address, Address];
  const { virtualBase, virtualQuote, raised } = curveOf(plan);
  ledger.mint(mint);
  ledger.hold(baseVault, authority, mint.mint, plan.supply - sold);
  ledger.holdAssociated(plan.holder, mint.mint, sold);
  ledger.hold(quoteVault, authority, quote.mint, raised);
  if (plan.creatorVault) putFeeVault(ledger, plan.creator, quote.mint);

  const data = new Uint8Array(POOL_SIZE);
  data.set(hex("f7ede3f5d7c3de46"));
  data[16] = pool.bump;
  data[18] = mint.decimals;
  data[19] = quote.decimals;
  data[20] = MIGRATES_TO_CPMM;
  const amounts = [plan.supply, plan.forSale, virtualBase, virtualQuote, sold, raised, plan.toRaise];
  amounts.forEach((amount, index) => {
    writeU64(data, 21 + 8 * index, amount);
  });
  const keys = [
    configOf(quote.mint, plan.shape),
    plan.platform,
    mint.mint,
    quote.mint,
    baseVault,
    quoteVault,
    plan.creator,
  ];
  keys.forEach((key, index) => {
    data.set(key.bytes, 141 + 32 * index);
  });
  data[365] = Number(mint.program === TOKEN_2022_PROGRAM);
  ledger.put(pool.address, LAUNCHLAB_PROGRAM, data);
  return pool.address;
}

/**
 * The virtual amounts a launch starts with and what it has raised by now, rounded up.
 * A constant product ends at the price its pool then opens with; a linear price starts at zero, and its slope is virtual base ÷ 2^64.
 */
function curveOf({ shape, supply, forSale, sold, toRaise }: LaunchPlan): {
  virtualBase: bigint;
  virtualQuote: bigint;
  raised: bigint;
} {
  if (shape === "constantProduct") {
    const virtualBase = (forSale * forSale) / (2n * forSale - supply);
    const virtualQuote = (toRaise * (virtualBase - forSale)) / forSale;
    return { virtualBase, virtualQuote, raised: ceilDiv(sold * virtualQuote, virtualBase - sold) };
  }
  if (shape === "fixedPrice") {
    return { virtualBase: forSale, virtualQuote: toRaise, raised: ceilDiv(sold * toRaise, forSale) };
  }
  const virtualBase = (toRaise << 65n) / (forSale * forSale);
  return { virtualBase, virtualQuote: 0n, raised: ceilDiv(virtualBase * sold * sold, 1n << 65n) };
}

function putFeeVault(ledger: WorldLedger, earner: Address, quoteMint: Address): void {
  const vault = derive(LAUNCHLAB_PROGRAM, earner, quoteMint);
  ledger.hold(vault, derive(LAUNCHLAB_PROGRAM, "vault_auth_seed"), quoteMint, 0n);
}

/** The first fee configuration of a shape; index 0 as two bytes. */
function configOf(quoteMint: Address, shape: LaunchShape): Address {
  return derive(LAUNCHLAB_PROGRAM, "global_config", quoteMint, Uint8Array.of(SHAPES[shape]), new Uint8Array(2));
}
