import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import type { MarketWatch } from "./market-watch.ts";
import { PairAnswer } from "./pair-answer.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

const random = createRandom(11);
const address = () => Address.from(random.bytes(32));
const now = () => 1_000_000;
const pace = { negativeMs: 5_000, researchMs: 60_000 };

type Reading = ReturnType<MarketWatch["read"]>;
/** Its reading is what the test says. */
type FakeWatch = MarketWatch & { readonly set: { reading: Reading } };

/** Readings as they come: nearly all of live markets. */
function anyReading(at: Address): Reading {
  const kind = random.u32() % 40;
  const fault = { venue: "raydium_cpmm", market: at.toString(), reason: "is paused" };
  if (kind === 0) return { kind: "fault", fault, closed: random.chance(0.5) };
  if (kind === 1) return { kind: "fault", fault: { ...fault, isWithheld: true }, closed: false };
  if (kind === 2) return { kind: "lacking", addresses: [at] };
  return { kind: "hot", hot: { market: { address: at }, state: random.u32() } as never };
}

function fakeWatch(): FakeWatch {
  const at = address();
  const set = { reading: anyReading(at) };
  return {
    address: at,
    venue: { id: "raydium_cpmm" },
    held: [],
    currentAtMs: now(),
    set,
    read: () => set.reading,
    glance: () => set.reading,
    release() {},
  } as never;
}

test("the answer after any changes is that of reading every market, over 3,000 trades", () => {
  const context: PairContext = {
    live: { contested: () => new Set(), use() {}, currentAtMs: now } as never,
    head: { slotAgeMs: () => 0 },
    ...{ now, pace, maxAgeMs: 2_000, onFilled() {} },
  };
  const pair = new WatchedPair({ a: address(), b: address() }, context);
  const watches = Array.from({ length: 64 }, fakeWatch);
  const found = { dropped: new Set<never>(), faults: [], searched: ["raydium_cpmm"], isComplete: true };
  pair.accept({ ...found, added: watches, firstAtMs: now(), searchedAtMs: now() });
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
    }
    const answer = pair.answer();
    if (kept.some((watch) => watch.read().kind === "lacking")) expect(answer).toBeUndefined();
    else expect(answer).toEqual(wholeAnswer());
    if (answer !== undefined && answer !== before && answer.faults === before?.faults) reused += 1;
    for (const watch of kept) {
      if (watch.read().kind !== "lacking") continue;
      watch.set.reading = { kind: "hot", hot: { market: { address: watch.address }, state: random.u32() } as never };
      pair.invalidate(watch);
    }
  }
  expect(reused).toBeGreaterThan(500);
});
