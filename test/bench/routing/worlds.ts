import type { HotMarket, PairMarkets } from "../../../src/market/port.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { ChainClock } from "../../../src/solana/account.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { Ask, Quote, Venue } from "../../../src/venues/venue.ts";
import { readSampleMarkets, type SampleMarket } from "../../support/sample-markets.ts";
import { accountsOfMarket, renamedLeg, sharedAccounts } from "./renamed-swap.ts";

/** Mints, and the markets of each pair of them. */
export interface RoutingWorld {
  /** The input, the output, then hubs. */
  readonly mints: readonly Address[];
  readonly clock: ChainClock;
  /** Half of what the deepest market holds. Base units. */
  readonly depth: bigint;
  marketsOf(a: Address, b: Address): PairMarkets;
}

const { mint: SAMPLE_MINT, clock, markets: samples } = readSampleMarkets();
/** By wallet: some accounts are derived from it. */
const sharedBy = new Map<Address, ReadonlySet<Address>>();
/** Samples are numbered by depth, each half as deep as the one before. */
const DEEPEST = 10n ** 13n;
const depthOf = ({ name }: SampleMarket) => Number(name.split(" ").at(-1));
const MOST_HUBS = 3;
/** Markets of a pair, and how much shallower than the deepest they may be, in halvings. */
const MOST_OF_A_PAIR = 5n;
const HALVINGS = 7;

/**
 * Draws a world: every pair of mints has up to five markets of any venue and depth. The curves are those of the venues, on
 * markets that their own programs made; only the mints are others. Some worlds have no direct market, or hubs that lead
 * nowhere.
 */
export function drawWorld(random: Random): RoutingWorld {
  const mints = Array.from({ length: 2 + Number(random.between(0n, BigInt(MOST_HUBS))) }, () =>
    Address.from(random.bytes(32)),
  );
  const pairs = new Map<string, PairMarkets>();
  let shallowest = Number.POSITIVE_INFINITY;
  for (const [i, a] of mints.entries()) {
    for (const [j, b] of mints.entries()) {
      if (j <= i) continue;
      const count = random.chance(0.25) ? 0 : Number(random.between(1n, MOST_OF_A_PAIR));
      const eligible = samples.filter((sample) => depthOf(sample) < HALVINGS);
      const markets = Array.from({ length: count }, () => {
        const sample = random.pick(eligible);
        shallowest = Math.min(shallowest, depthOf(sample));
        return relabelled(sample, a, b, random);
      });
      pairs.set([a, b].sort().join(), { markets, faults: [], searched: [] });
    }
  }
  return {
    mints,
    clock,
    depth: DEEPEST >> BigInt(Number.isFinite(shallowest) ? shallowest : 0),
    marketsOf: (a, b) => pairs.get([a, b].sort().join())!,
  };
}

/** The world of a seed at a place, drawn as the bench does, which draws four sizes after each. */
export function worldAt(seed: number, place: number): RoutingWorld {
  const random = createRandom(seed);
  for (let drawn = 0; drawn < place; drawn++) {
    drawWorld(random);
    for (let size = 0; size < 4; size++) random.u32();
  }
  return drawWorld(random);
}

/** The accounts of a small trade in either direction on every market of a world, market after market. */
export function accountsOfWorld({ mints, marketsOf }: RoutingWorld): readonly Address[] {
  const found = new Set<Address>();
  for (const [index, a] of mints.entries())
    for (const b of mints.slice(index + 1))
      for (const hot of marketsOf(a, b).markets)
        for (const address of accountsOfMarket({ venue: hot.venue, hot }, [a, b], clock)) found.add(address);
  return [...found];
}

function sharedFor(wallet: Address): ReadonlySet<Address> {
  const shared = sharedBy.get(wallet) ?? sharedAccounts(samples, SAMPLE_MINT, clock, wallet);
  sharedBy.set(wallet, shared);
  return shared;
}

/** A sample market that trades two other mints, in either direction. */
function relabelled({ venue, hot }: SampleMarket, a: Address, b: Address, random: Random): HotMarket {
  const [token, sol] = random.chance(0.5) ? [a, b] : [b, a];
  const real = (mint: Address) => (mint === token ? SAMPLE_MINT : SOL_MINT);
  const quote = (state: unknown, ask: Ask): Quote => {
    const made = venue.quote(state, { ...ask, inMint: real(ask.inMint), outMint: real(ask.outMint) });
    return { ...made, inMint: ask.inMint, outMint: ask.outMint };
  };
  const asReal = (made: Quote): Quote => ({ ...made, inMint: real(made.inMint), outMint: real(made.outMint) });
  const inForm =
    (form: "older" | "lean") =>
    (state: unknown, made: Quote): Quote | undefined => {
      const leaner = venue[form]?.(state, asReal(made));
      return leaner && { ...leaner, inMint: made.inMint, outMint: made.outMint };
    };
  const { after: _, ...described } = venue;
  const address = Address.from(random.bytes(32));
  const swap: Venue["swap"] = (state, made, terms) => {
    const shared = sharedFor(terms.wallet);
    const leg = venue.swap(state, asReal(made), terms);
    const kept = new Set([...shared, terms.wallet, terms.source, terms.destination]);
    const mints = new Map([
      [SAMPLE_MINT, token],
      [SOL_MINT, sol],
    ]);
    return renamedLeg(leg, address, kept, mints);
  };
  const market = { ...hot.market, address, mints: [token, sol] as const, nativeSol: false };
  return {
    venue: { ...described, quote, older: inForm("older"), lean: inForm("lean"), swap } as Venue,
    market,
    state: hot.state,
    slot: hot.slot,
  };
}
