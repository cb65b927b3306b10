import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import { LINE_SIZE, wholeLine } from "../venues/spot-bound.ts";
import type { MarketWatch } from "./market-watch.ts";
import { PairAnswer } from "./pair-answer.ts";
import type { PairMarkets } from "./port.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

const random = createRandom(11);
const address = () => Address.from(random.bytes(32));
const now = () => 1_000_000;
const pace = { negativeMs: 5_000, researchMs: 60_000 };

/** The pair's lower mint. */
const LOWER = address();
const LINE = wholeLine(2, 0);

type Reading = ReturnType<MarketWatch["read"]>;
/** Its reading is what the test says; counts how often it is asked for. */
type FakeWatch = MarketWatch & { readonly set: { reading: Reading; asked: number } };

/** Readings as they come: nearly all of live markets. */
function anyReading(at: Address): Reading {
  const kind = random.u32() % 40;
  const fault = { venue: "raydium_cpmm", market: at.toString(), reason: "is paused" };
  if (kind === 0) return { kind: "fault", fault, closed: random.chance(0.5) };
  if (kind === 1) return { kind: "fault", fault: { ...fault, isWithheld: true }, closed: false };
  if (kind === 2) return { kind: "lacking", addresses: [at] };
  return { kind: "hot", hot: { market: { address: at, mints: [LOWER, at] }, state: random.u32() } as never };
}

function fakeWatch(): FakeWatch {
  const at = address();
  const set = { reading: anyReading(at), asked: 0 };
  return {
    address: at,
    venue: { id: "raydium_cpmm" },
    held: [],
    currentAtMs: now(),
    set,
    read: () => set.reading,
    glance() {
      set.asked += 1;
      return set.reading;
    },
    release() {},
  } as never;
}

/** A pair with these markets. */
function pairOf(watches: readonly FakeWatch[]) {
  const context: PairContext = {
    live: { contested: () => new Set(), use() {}, currentAtMs: now } as never,
    head: { slotAgeMs: () => 0 },
    ...{ now, pace, maxAgeMs: 2_000, onFilled() {} },
  };
  const pair = new WatchedPair({ a: LOWER, b: address() }, context);
  const found = { dropped: new Set<never>(), faults: [], searched: ["raydium_cpmm"], isComplete: true };
  pair.accept({ ...found, added: watches, firstAtMs: now(), searchedAtMs: now() });
  return pair;
}

/** The rates of the market at the place, in both directions; undefined if the table has others. */
const ratesOf = ({ versions, bounds }: PairMarkets, place: number) =>
  ([0, 1] as const).map((direction) => {
    const isWritten = bounds!.versionsOf(direction)[place] === versions![place];
    return isWritten ? bounds!.linesOf(direction)[place * LINE_SIZE] : undefined;
  });

/** Follows the change of the watch, if its reading allows. */
function follow(pair: WatchedPair, watch: FakeWatch): boolean {
  const { reading } = watch.set;
  if (reading.kind === "hot") pair.followed(watch, reading.hot, { from0: LINE, from1: LINE, rounding: 0 });
  return reading.kind === "hot";
}

test("the answer after any changes, some of them followed, is that of reading every market, over 3,000 trades", () => {
  const pair = pairOf(Array.from({ length: 64 }, fakeWatch));
  const kept = pair.watches as readonly FakeWatch[];
  const wholeAnswer = () => {
    const line = expect.anything() as object;
    return PairAnswer.of(kept, { faults: [], searched: ["raydium_cpmm"], line, onClosed() {} });
  };
  let reused = 0;
  for (let trade = 0; trade < 3_000; trade++) {
    const before = pair.answer();
    for (let changes = random.u32() % (trade % 10 === 0 ? 60 : 4); changes > 0; changes--) {
      const watch = random.pick(kept);
      watch.set.reading = anyReading(watch.address);
      pair.invalidate(watch);
      if (random.chance(0.5)) follow(pair, watch);
    }
    const answer = pair.answer();
    if (kept.some((watch) => watch.read().kind === "lacking")) expect(answer).toBeUndefined();
    else expect({ ...answer, versions: 0, bounds: 0 }).toEqual({ ...wholeAnswer(), versions: 0, bounds: 0 });
    if (answer !== undefined && answer !== before && answer.faults === before?.faults) reused += 1;
    for (const watch of kept) {
      if (watch.read().kind !== "lacking") continue;
      const market = { address: watch.address, mints: [LOWER, watch.address] };
      watch.set.reading = { kind: "hot", hot: { market, state: random.u32() } as never };
      pair.invalidate(watch);
    }
  }
  expect(reused).toBeGreaterThan(500);
});

test("an answer looks at no market whose change was followed, and finds its bound in the table", () => {
  const hotReading = (watch: FakeWatch): Reading => {
    const market = {
      address: watch.address,
      mints: random.chance(0.5) ? [LOWER, watch.address] : [watch.address, LOWER],
    };
    return { kind: "hot", hot: { market, state: random.u32() } as never };
  };
  const watches = Array.from({ length: 64 }, fakeWatch);
  for (const watch of watches) watch.set.reading = hotReading(watch);
  const pair = pairOf(watches);
  const first = pair.answer()!;
  expect(ratesOf(first, 0)[0]).toBeUndefined();
  for (const watch of watches) {
    Object.assign(watch.set, { reading: hotReading(watch), asked: 0 });
    pair.invalidate(watch);
  }
  for (const [place, watch] of watches.entries()) {
    const hot = watch.set.reading.kind === "hot" ? watch.set.reading.hot : undefined;
    pair.followed(watch, hot!, { from0: wholeLine(1 + place, 0), from1: wholeLine(1_000 + place, 0), rounding: 0 });
  }
  // Its followed state is outdated again.
  watches[7]!.set.reading = hotReading(watches[7]!);
  pair.invalidate(watches[7]!);
  const next = pair.answer()!;
  expect(watches.filter(({ set }) => set.asked > 0)).toEqual([watches[7]]);
  for (const [place, watch] of watches.entries()) {
    const hot = next.markets[place]!;
    expect(hot).toBe((watch.set.reading as { readonly hot: unknown }).hot);
    const rates = ratesOf(next, place);
    const isLowerFirst = hot.market.mints[0] === LOWER;
    if (place === 7) expect(rates).toEqual([undefined, undefined]);
    else expect(rates).toEqual(isLowerFirst ? [1 + place, 1_000 + place] : [1_000 + place, 1 + place]);
  }
  // Answers given earlier are as they were, and find no bound of later states.
  expect(first.markets.every((hot, place) => hot !== next.markets[place])).toBe(true);
  expect(ratesOf(first, 0)[0]).toBeUndefined();
  expect(pair.answer()).toBe(next);
});
