import type { Address } from "../../primitives/address.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { decodeTogether } from "../../solana/decode-once.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { degraded } from "../shared/refusals.ts";
import { requireAccount, requireMint } from "../shared/required.ts";
import { type Reserves, requireReserves } from "../shared/reserves.ts";
import { type BinArray, decodeBinArray } from "./bin-array.ts";
import {
  arraysWithLiquidity,
  binArrayOf,
  bitmapExtensionOf,
  type DlmmMarket,
  type DlmmPair,
  decodeBitmap,
  decodeDlmmPair,
  isDlmmPair,
} from "./layout.ts";
import { activeArray, binPrice } from "./math.ts";

/** Bins that one direction of trade may reach, with their accounts. */
export interface Side {
  readonly arrays: readonly BinArray[];
  readonly addresses: readonly Address[];
}

/** A pair ready to be priced in either direction. */
export interface DlmmState {
  readonly market: DlmmMarket;
  readonly pair: DlmmPair;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  /** Extensions each mint carries. */
  readonly extensions: readonly [number, number];
  /** True if the pair has a bitmap extension. */
  readonly extended: boolean;
  /** Price of the active bin, Y per X in Q64.64. */
  readonly activePrice: bigint;
  /** X going in meets bins downwards. */
  readonly down: Side;
  readonly up: Side;
}

/** Bin arrays a trade may use in one direction: as many as fit into a transaction. */
export const ARRAYS_PER_TRADE = 5;
/** One more is named if there is room, so that a price that moves in the meantime still finds its bins. */
export const SPARE_ARRAYS = 1;
export const ARRAYS_READ = ARRAYS_PER_TRADE + SPARE_ARRAYS;

/** Decodes everything that quotes need. @throws TradewireError VENUE_DEGRADED */
export function readDlmm(market: DlmmMarket, have: AccountView): DlmmState {
  const account = requireAccount(have, market.address, "meteora_dlmm", "pair");
  const pair = isDlmmPair(account) ? decodeDlmmPair(account) : undefined;
  if (pair === undefined) {
    throw degraded("meteora_dlmm", `${market.address} is not a pair of a kind known here`);
  }
  const mints = [
    requireMint(have, market.mints[0], "meteora_dlmm"),
    requireMint(have, market.mints[1], "meteora_dlmm"),
  ] as const;
  const bitmap = decodeBitmap(account, have.get(bitmapExtensionOf(market.address).address) ?? null);
  const side = (upwards: boolean): Side => {
    const indices = arraysWithLiquidity(bitmap, activeArray(pair), upwards, ARRAYS_READ);
    const accounts = indices.map((index) => have.get(binArrayOf(market.address, index).address));
    return (upwards ? upOf : downOf)(market, indices, accounts);
  };
  const extended = bitmap.extension !== undefined;
  return {
    market,
    pair,
    mints,
    reserves: requireReserves(have, market, market.reserves),
    extensions: [mints[0].extensions, mints[1].extensions],
    extended,
    activePrice: binPrice(pair.activeId, market.binStep),
    down: side(false),
    up: side(true),
  };
}

/** A direction, made once while its arrays stay the same: most changes of a pair leave those far from its price as they are. */
const [downOf, upOf] = [decodeTogether(sideOf), decodeTogether(sideOf)];

/**
 * The arrays in order, up to the first that is missing or names another place than its address: nothing beyond it can be priced. Of one
 * that a node made up, a trade could walk bins without end.
 */
function sideOf(
  _market: DlmmMarket,
  indices: readonly number[],
  accounts: readonly (Account | null | undefined)[],
): Side {
  const arrays: BinArray[] = [];
  for (const [at, index] of indices.entries()) {
    const account = accounts[at];
    const array = account ? decodeBinArray(account) : undefined;
    if (array?.index !== index) break;
    arrays.push(array);
  }
  return { arrays, addresses: arrays.map(({ address }) => address) };
}
