import { getTransactionDecoder } from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { readU64 } from "../../../src/primitives/bytes.ts";
import { maxOf, U64_MAX } from "../../../src/primitives/integer.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { MAX_COMPUTE_UNITS, setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { venues } from "../../../src/venues/registry.ts";
import {
  type Market,
  type MintPair,
  type Quote,
  rentOfGrowth,
  type SwapLeg,
  type SwapMode,
  type Venue,
} from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import type { Svm } from "../../support/svm.ts";
import { forOlderAmm } from "../client/world-builds.ts";
import type { DrawnWorld } from "./drawn-world.ts";
import type { Place } from "./market-draw.ts";
import { isOfOlderBuild } from "./older-build.ts";

/** What the wallet holds of each mint: a vault that took all of it would still count in 64 bits. Base units. */
const HELD = 1n << 63n;
/** Of lamports: what the runtime's accounts hold together is counted in 64 bits too. */
const HELD_LAMPORTS = 1n << 61n;
const SIGNATURE_FEE = 5_000n;
/** For fees and rent. */
const KEPT_LAMPORTS = 10n ** 9n;

/** What was tried, and what is wrong. */
export interface EdgeReport {
  /** Trades at the edges that were offered, and executed as quoted. */
  readonly offered: number;
  /** Trades that were refused, and that the program refuses too or makes in part. */
  readonly refused: number;
  readonly faults: readonly string[];
}

interface Side {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Market;
  readonly state: unknown;
  readonly wallet: Address;
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
}

/** Seeks the amounts at which a market begins and ends to trade, in each mode and direction, and executes the trades on both sides. */
export function tradeAtEdges({ svm, name }: DrawnWorld, place: Place, random: Random): EdgeReport {
  const venue = venues.find(({ id }) => id === place.venue)!;
  const [a, b] = place.mints;
  const pair = { a, b };
  const { market } = readMarket(svm, venue, place.address, pair);
  const wallet = svm.newWallet(HELD_LAMPORTS);
  for (const mint of place.mints)
    if (mint !== SOL_MINT || !market.nativeSol) svm.setTokens(wallet, mint, mint === SOL_MINT ? HELD_LAMPORTS : HELD);
  for (let left = random.pick([0, 0, 1, 3]); left > 0; left--)
    passAndTrade({ svm, venue, market, wallet }, pair, random);
  const { state } = readMarket(svm, venue, place.address, pair);
  const report = { offered: 0, refused: 0, faults: [] as string[] };
  for (const mode of venue.supports.exactOut ? (["exactIn", "exactOut"] as const) : (["exactIn"] as const))
    for (const [inMint, outMint] of [[a, b] as const, [b, a] as const]) {
      const side = { svm, venue, market, state, wallet, mode, inMint, outMint };
      for (const amount of edgesOf(side, random)) {
        const fault = faultAt(side, amount, report);
        if (fault !== undefined)
          report.faults.push(`${name}, ${place.venue} ${mode} ${amount} of ${inMint} → ${outMint}: ${fault}`);
      }
    }
  return report;
}

/** Seconds that pass: fees follow volatility, schedules and epochs. */
const WAITS = [0n, 1n, 31n, 600n, 5n * 3_600n, 400n * 86_400n] as const;

/** Somebody trades, and time passes. */
function passAndTrade(
  { svm, venue, market, wallet }: Pick<Side, "svm" | "venue" | "market" | "wallet">,
  pair: MintPair,
  random: Random,
): void {
  const { state } = readMarket(svm, venue, market.address, pair);
  const [inMint, outMint] = random.chance(0.5) ? [pair.a, pair.b] : [pair.b, pair.a];
  const side = { svm, venue, market, state, wallet, mode: "exactIn" as const, inMint, outMint };
  const quote = quoteOf(side, random.magnitude(maxOf(mostIn(side), 1n)));
  if (!(quote instanceof TradewireError)) {
    const leg = legOf(side, quote, 0n);
    svm.inner.sendTransaction(getTransactionDecoder().decode(wireOf(side, leg)));
  }
  const seconds = random.pick(WAITS);
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({
    slot: slot + seconds * 2n,
    epoch: random.chance(0.3) ? epoch + 1n : epoch,
    unixTimestamp: unixTimestamp + seconds,
  });
}

function quoteOf({ svm, venue, state, mode, inMint, outMint }: Side, amount: bigint): Quote | TradewireError {
  try {
    return venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
  } catch (error) {
    if (error instanceof TradewireError) return error;
    throw error;
  }
}

const isOffered = (side: Side, amount: bigint): boolean => !(quoteOf(side, amount) instanceof TradewireError);

/** Amounts on both sides of each change between offered and refused that a scan over orders of magnitude meets, and others by chance. */
function edgesOf(side: Side, random: Random): bigint[] {
  const scan = [1n, 2n, 3n];
  for (let bits = 2n; bits < 64n; bits++) scan.push((1n << bits) + random.below(1n << bits));
  scan.push(U64_MAX);
  const found = new Set<bigint>([1n, random.magnitude(U64_MAX), random.magnitude(U64_MAX)]);
  for (const [index, high] of scan.entries()) {
    const low = scan[index - 1];
    if (low === undefined || isOffered(side, low) === isOffered(side, high)) continue;
    const [under, over] = bisect(side, low, high);
    for (const amount of [under - 1n, under, over, over + 1n]) if (amount > 0n && amount <= U64_MAX) found.add(amount);
  }
  return [...found];
}

/** Two neighbours of which one is offered. */
function bisect(side: Side, low: bigint, high: bigint): readonly [bigint, bigint] {
  const isLow = isOffered(side, low);
  let [under, over] = [low, high];
  while (over - under > 1n) {
    const middle = (under + over) / 2n;
    if (isOffered(side, middle) === isLow) under = middle;
    else over = middle;
  }
  return [under, over];
}

function faultAt(side: Side, amount: bigint, report: { offered: number; refused: number }): string | undefined {
  const quote = quoteOf(side, amount);
  if (!(quote instanceof TradewireError)) {
    if (quote.inAmount > mostIn(side)) return undefined;
    report.offered++;
    const made = attempt(side, quote, side.mode === "exactIn" ? quote.outAmount : quote.inAmount);
    if (made === TOO_MANY_UNITS) return undefined;
    if (typeof made === "string")
      return isOfOlderBuild(side.svm, side.market.mints, made) ? undefined : `offered, and ${made}`;
    const { inAmount, outAmount } = made;
    const isSame = inAmount === quote.inAmount && outAmount === quote.outAmount;
    return isSame ? undefined : `told ${quote.inAmount} → ${quote.outAmount}, was ${inAmount} → ${outAmount}`;
  }
  if (side.mode === "exactIn" && amount > mostIn(side)) return undefined;
  const made = asRefused(side, amount);
  if (made === undefined) return undefined;
  report.refused++;
  if (typeof made === "string") return undefined;
  const isMade =
    side.mode === "exactIn"
      ? made.inAmount === amount && made.outAmount > 0n
      : made.outAmount >= amount && made.inAmount > 0n;
  // Older builds of raydium_amm_v4 round fees below half a unit differently: such dust is not quoted.
  const isDust = side.venue.id === "raydium_amm_v4" && quote.code === "VALIDATION_ERROR";
  return isMade && !isDust
    ? `refused (${quote.code}: ${quote.message}), and the program makes ${made.inAmount} → ${made.outAmount}`
    : undefined;
}

/** What the wallet has left to put in after its first trades. Base units. */
function mostIn({ svm, market, wallet, inMint }: Side): bigint {
  if (inMint === SOL_MINT && market.nativeSol) return svm.lamports(wallet) - KEPT_LAMPORTS;
  return svm.tokens(accountOf(svm, wallet, inMint));
}

/** The refused trade by the instruction of the nearest offered one, with as little to hold it back as there can be. */
function asRefused(side: Side, amount: bigint): Moved | string | undefined {
  const { mode } = side;
  for (let bits = 0n; bits < 64n; bits++)
    for (const near of [amount >> bits, amount << bits]) {
      if (near < 1n || near > U64_MAX) continue;
      const quote = quoteOf(side, near);
      if (quote instanceof TradewireError) continue;
      const fill =
        quote.fill !== null && typeof quote.fill === "object" && "amount" in quote.fill
          ? { ...quote.fill, amount }
          : quote.fill;
      const asked =
        mode === "exactIn"
          ? { ...quote, fill, inAmount: amount, outAmount: 1n }
          : { ...quote, fill, inAmount: mostIn(side), outAmount: amount };
      return attempt(side, asked, mode === "exactIn" ? 0n : mostIn(side));
    }
  return undefined;
}

/** Builds refuse such a trade. */
const TOO_MANY_UNITS = "may take more units than a transaction has";

interface Moved {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

function legOf({ svm, venue, state, wallet, inMint, outMint }: Side, quote: Quote, threshold: bigint): SwapLeg {
  const [source, destination] = [inMint, outMint].map((mint) => accountOf(svm, wallet, mint)) as [Address, Address];
  const exists = (address: Address) => svm.get(address) !== null;
  return venue.swap(state, quote, { wallet, source, destination, threshold, salt: 0, exists });
}

const accountOf = (svm: Svm, wallet: Address, mint: Address): Address =>
  associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);

const wireOf = ({ svm, wallet }: Side, { instructions }: SwapLeg): Uint8Array =>
  forOlderAmm(svm.wire(wallet, [setComputeUnitLimit(MAX_COMPUTE_UNITS), ...instructions]));

/** Executes a swap without keeping it. @returns what moved, or why it fails */
function attempt(side: Side, quote: Quote, threshold: bigint): Moved | string {
  const { svm, market, wallet, inMint, outMint } = side;
  const leg = legOf(side, quote, threshold);
  const { creates, grows = [] } = leg;
  if (leg.computeUnits > MAX_COMPUTE_UNITS) return TOO_MANY_UNITS;
  const done = svm.inner.simulateTransaction(getTransactionDecoder().decode(wireOf(side, leg)));
  if (done instanceof FailedTransactionMetadata)
    return `fails: ${done.toString().slice(0, 90)} | ${done.meta().logs().slice(-4).join(" / ")}`;
  const after = new Map(done.postAccounts().map((account) => [`${account.address}`, account]));
  const rentExemption = (space: number): bigint => svm.rent(space);
  // Those that stayed empty are among them.
  const isMade = (address: Address): boolean =>
    svm.get(address) === null && (after.get(`${address}`)?.lamports ?? 0n) > 0n;
  const rent =
    creates.reduce((sum, { address, space }) => (isMade(address) ? sum + svm.rent(space) : sum), 0n) +
    grows.reduce((sum, growth) => sum + rentOfGrowth(growth, rentExemption), 0n);
  const change = (mint: Address): bigint => {
    const isNative = market.nativeSol && mint === SOL_MINT;
    const address = isNative ? wallet : accountOf(svm, wallet, mint);
    const left = after.get(`${address}`);
    if (left === undefined) return 0n;
    if (isNative) return left.lamports + SIGNATURE_FEE + rent - svm.lamports(wallet);
    return readU64(Uint8Array.from(left.data), 64) - svm.tokens(address);
  };
  return { inAmount: -change(inMint), outAmount: change(outMint) };
}
