import { ceilDiv, minOf, U64_MAX } from "../../primitives/integer.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { type Found, stableInvariant, stablePrice, stableReserve } from "../curves/stable-swap.ts";
import type { DammV1Pool, DammV1Vault, Fraction, StableCurve } from "./layout.ts";

/** Scale of a vault's degradation. */
const TRILLION = 1_000_000_000_000n;
const MILLION = 1_000_000n;
/** Seconds for which a pool uses its stored value of staked SOL. */
const MEMORY_SECONDS = 600n;

/** A pool's stake in one vault. Base units. */
export interface VaultShare {
  readonly vault: DammV1Vault;
  /** The pool's shares, and all shares. */
  readonly shares: bigint;
  readonly supply: bigint;
  /** Tokens in the vault that are not lent out. */
  readonly reserve: bigint;
}

/** One direction of trade at one time. */
interface DammV1Trade {
  readonly pool: DammV1Pool;
  /** Index of the token that goes in. */
  readonly from: 0 | 1;
  readonly source: VaultShare;
  readonly target: VaultShare;
  /** Value of staked SOL in millionths; undefined if it does not matter or cannot be read. */
  readonly stakedPrice: bigint | undefined;
  /** Unix seconds. */
  readonly now: bigint;
}

/** Inputs of a trade, computed once. */
export interface DammV1Bench {
  readonly trade: DammV1Trade;
  readonly sourceFree: bigint;
  readonly targetFree: bigint;
  /** The pool's own tokens. */
  readonly sourceHeld: bigint;
  readonly targetHeld: bigint;
  /** Undefined: constant product. */
  readonly stable:
    | { readonly amplification: bigint; readonly scales: readonly [bigint, bigint]; readonly d: Found }
    | undefined;
}

/** Base units. */
export interface DammV1Fill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
  /** Output of the curve before the vault's rounding. */
  readonly grossOut: bigint;
  /** Decrease of the pool's stake in the vault: the program checks this against the bound, not what arrives. */
  readonly checkedOut: bigint;
  /** Rounds of approximation of the curve. */
  readonly rounds: number;
  /** What the trade does to the vaults: tokens and shares that one gains and the other loses. */
  readonly moved: VaultMoves;
}

/** Tokens and shares that the input's vault gains and the output's vault loses. Base units. */
export interface VaultMoves {
  readonly deposited: bigint;
  readonly minted: bigint;
  readonly withdrawn: bigint;
  readonly burnt: bigint;
}

/** A pool's stake in a vault after a trade of another pool moved tokens and shares in or out of it. */
export function afterMove(share: VaultShare, tokens: bigint, shares: bigint): VaultShare {
  return {
    ...share,
    vault: { ...share.vault, total: share.vault.total + tokens },
    supply: share.supply + shares,
    reserve: share.reserve + tokens,
  };
}

/** The amount a vault can pay out: everything but the profit still locked. */
export function freeAmount({ total, lockedProfit, lastReport, degradation }: DammV1Vault, now: bigint): bigint {
  const freed = (now - lastReport) * degradation;
  return freed > TRILLION ? total : total - (lockedProfit * (TRILLION - freed)) / TRILLION;
}

/** Prepares one direction of trade; undefined if the pool is empty, its staked SOL has no price or its curve no invariant. */
export function dammV1Bench(trade: DammV1Trade): DammV1Bench | undefined {
  const { pool, from, source, target, now } = trade;
  const sourceFree = freeAmount(source.vault, now);
  const targetFree = freeAmount(target.vault, now);
  if (source.supply === 0n || target.supply === 0n || sourceFree <= 0n || targetFree <= 0n) return undefined;
  const sourceHeld = (source.shares * sourceFree) / source.supply;
  const targetHeld = (target.shares * targetFree) / target.supply;
  if (sourceHeld === 0n || targetHeld === 0n) return undefined;
  if (pool.stable === undefined) return { trade, sourceFree, targetFree, sourceHeld, targetHeld, stable: undefined };
  const both = scalesOf(pool.stable, trade);
  if (both === undefined) return undefined;
  const scales = from === 0 ? both : ([both[1], both[0]] as const);
  const { amplification } = pool.stable;
  const d = stableInvariant(amplification, sourceHeld * scales[0], targetHeld * scales[1]);
  if (d === undefined) return undefined;
  return { trade, sourceFree, targetFree, sourceHeld, targetHeld, stable: { amplification, scales, d } };
}

/** Factors that bring tokens A and B to one precision and, for staked SOL, to one value. */
function scalesOf(curve: StableCurve, { stakedPrice, now }: DammV1Trade): readonly [bigint, bigint] | undefined {
  const [a, b] = curve.multipliers;
  if (curve.depeg === "none") return [a, b];
  const price = now > curve.rememberedAt + MEMORY_SECONDS ? stakedPrice : curve.rememberedPrice;
  return price === undefined || price === 0n ? undefined : [a * MILLION, b * price];
}

/** A trade stores the value of staked SOL once the stored one is too old. `now` in Unix seconds. */
export function rememberStakedPrice(pool: DammV1Pool, stakedPrice: bigint | undefined, now: bigint): DammV1Pool {
  const { stable } = pool;
  if (stable === undefined || stable.depeg === "none" || stakedPrice === undefined) return pool;
  if (now <= stable.rememberedAt + MEMORY_SECONDS) return pool;
  return { ...pool, stable: { ...stable, rememberedAt: now, rememberedPrice: stakedPrice } };
}

/**
 * Simulates the program for `input`: the protocol's fee is set aside and the rest goes into the vault for shares. The curve's
 * input is the growth of the pool's shares less the fee, and the other vault pays out for shares. Fees round down but are at
 * least one unit; shares and payments round down.
 *
 * @returns undefined if it would trade for nothing or more than there is
 * @see @meteora-ag/dynamic-amm-sdk 1.4.1 `utils`, calculateSwapQuote
 */
export function dammV1ExactIn(bench: DammV1Bench, input: bigint): DammV1Fill | undefined {
  const { trade, sourceFree, targetFree, sourceHeld, targetHeld } = bench;
  const { pool, source, target } = trade;
  const fee = feeOn(input, pool.tradeFee);
  const protocolFee = feeOn(fee, pool.protocolFee);
  const deposited = input - protocolFee;
  const minted = (deposited * source.supply) / sourceFree;
  const after = ((source.shares + minted) * (sourceFree + deposited)) / (source.supply + minted);
  const netIn = after - sourceHeld - (fee - protocolFee);
  // Of an amount that is all fee, a stable curve may still give what its approximation is off by.
  if (netIn < 0n) return undefined;
  const curve = curveOut(bench, netIn);
  if (curve === undefined) return undefined;
  const { value: grossOut, rounds } = curve;
  // Where next to nothing would be left, the program refuses to round it up to one unit.
  if (grossOut <= 0n || (pool.stable === undefined && sourceHeld * targetHeld < sourceHeld + netIn)) return undefined;
  const burnt = (grossOut * target.supply) / targetFree;
  const output = (burnt * targetFree) / target.supply;
  if (output <= 0n || output >= minOf(targetHeld, target.reserve)) return undefined;
  const kept = ((target.shares - burnt) * (targetFree - output)) / (target.supply - burnt);
  const moved = { deposited, minted, withdrawn: output, burnt };
  return { input, output, netIn, grossOut, checkedOut: targetHeld - kept, rounds, moved };
}

/**
 * The wallet may receive this much less than the amount that the program checks against its bound. With a stake of s of S shares
 * of a vault of F tokens, b shares burnt for o of them (b F / S = o + e, e < 1), the stake falls by o + e (S - s) / (S - b),
 * between o and o + 1; the stakes before and after are rounded down. Base units.
 */
export const MOST_ROUNDING = 1n;

/**
 * The least input that gives at least `output`, since the program has no instruction for an exact output. Found by bisection
 * between bounds grown around a guess.
 *
 * @returns undefined if the pool cannot give that much
 */
export function dammV1ExactOut(bench: DammV1Bench, output: bigint): DammV1Fill | undefined {
  const { targetHeld, trade } = bench;
  if (output >= minOf(targetHeld, trade.target.reserve)) return undefined;
  const enough = (input: bigint): DammV1Fill | undefined => {
    const fill = dammV1ExactIn(bench, input);
    return fill !== undefined && fill.output >= output ? fill : undefined;
  };
  const guess = guessInput(bench, output);
  let high = guess;
  let step = 2n + guess / 1_000_000_000n;
  let best = enough(high);
  let low = 0n;
  if (best === undefined) {
    for (; best === undefined; step *= 4n) {
      if (high === U64_MAX || dammV1TooMuch(bench, high)) return undefined;
      low = high;
      high = minOf(high + step, U64_MAX);
      best = enough(high);
    }
  } else {
    for (; high > 1n; step *= 4n) {
      const lower = high > step ? high - step : 1n;
      const fill = enough(lower);
      if (fill === undefined) {
        low = lower;
        break;
      }
      best = fill;
      high = lower;
    }
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    const fill = enough(middle);
    if (fill === undefined) low = middle;
    else {
      best = fill;
      high = middle;
    }
  }
  return best;
}

/** True if more input would not help: there is no fill, and not because the output rounds to nothing. */
function dammV1TooMuch(bench: DammV1Bench, input: bigint): boolean {
  if (input <= bench.sourceHeld || dammV1ExactIn(bench, input) !== undefined) return false;
  const most = curveOut(bench, input);
  return most === undefined || most.value >= minOf(bench.targetHeld, bench.trade.target.reserve) - 1n;
}

/** An input near the one that gives `output`. */
function guessInput({ trade, sourceHeld, targetHeld, stable }: DammV1Bench, output: bigint): bigint {
  const { tradeFee } = trade.pool;
  const left = targetHeld - output;
  const held =
    stable === undefined ? undefined : stableReserve(stable.amplification, left * stable.scales[1], stable.d.value);
  const net =
    stable === undefined || held === undefined
      ? ceilDiv(output * sourceHeld, left)
      : held.value / stable.scales[0] - sourceHeld;
  const kept = tradeFee.denominator - tradeFee.numerator;
  const guess = kept <= 0n ? net : (net * tradeFee.denominator) / kept;
  return guess < 1n ? 1n : minOf(guess, U64_MAX);
}

/** The curve's output, rounded down, against the pool; undefined if it has none. */
function curveOut({ sourceHeld, targetHeld, stable }: DammV1Bench, input: bigint): Found | undefined {
  if (stable === undefined) {
    return { value: targetHeld - ceilDiv(sourceHeld * targetHeld, sourceHeld + input), rounds: 0 };
  }
  const [sourceScale, targetScale] = stable.scales;
  const left = stableReserve(stable.amplification, (sourceHeld + input) * sourceScale, stable.d.value);
  if (left === undefined) return undefined;
  return { value: (targetHeld * targetScale - left.value - 1n) / targetScale, rounds: left.rounds };
}

function feeOn(amount: bigint, { numerator, denominator }: Fraction): bigint {
  if (amount === 0n || numerator === 0n) return 0n;
  const fee = (amount * numerator) / denominator;
  return fee === 0n ? 1n : fee;
}

/** How much worse a fill is than the price before it. */
export function dammV1Impact({ sourceHeld, targetHeld, stable }: DammV1Bench, { netIn, grossOut }: DammV1Fill): number {
  if (stable === undefined) return priceImpact(netIn, grossOut, targetHeld, sourceHeld);
  const [sourceScale, targetScale] = stable.scales;
  const [numerator, denominator] = stablePrice(
    stable.amplification,
    sourceHeld * sourceScale,
    targetHeld * targetScale,
    stable.d.value,
  );
  return priceImpact(netIn * sourceScale, grossOut * targetScale, numerator, denominator);
}
