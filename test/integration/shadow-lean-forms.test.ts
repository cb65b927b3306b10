import { expect, test } from "vitest";
import { MarketRecord, Verdicts } from "../../src/shadow/verdicts.ts";
import { pumpFun } from "../../src/venues/pump-fun/venue.ts";
import type { Venue } from "../../src/venues/venue.ts";
import { checkOnSvm } from "../support/shadow-check.ts";
import { worldOnSvm } from "../support/world.ts";

const { world, svm } = worldOnSvm(16);
const coin = world.tokens.find(({ symbol }) => symbol === "KITE")!;
const check = (venue: Venue) => {
  const answer = checkOnSvm({ svm, venue, market: coin.market, pair: { a: coin.mint, b: coin.quoteMint }, turn: 1 });
  if (answer.kind !== "checked") throw new Error(JSON.stringify(answer));
  return answer;
};
/** A coin as on a program that has dropped the older instructions. */
const dropped: Venue = {
  ...(pumpFun as Venue),
  swap(state, quote, terms) {
    const leg = (pumpFun as Venue).swap(state, quote, terms);
    if ((quote.fill as { readonly isOlder?: boolean }).isOlder !== true) return leg;
    return {
      ...leg,
      instructions: leg.instructions.map((one) => ({ ...one, accounts: one.accounts, data: one.data.toReversed() })),
    };
  },
};

test("a market whose program has dropped the older instructions is offered, and never in its lean form", () => {
  const kept = check(pumpFun as Venue);
  expect(kept).toMatchObject({ differences: [], leanDifference: undefined });
  const answer = check(dropped);
  expect(answer).toMatchObject({ differences: [], samples: kept.samples });
  expect(answer.leanDifference).toMatch(/the program fails/);
  expect(answer.isOlderAlone).toBe(true);

  for (const isGuarding of [true, false]) {
    const record = new MarketRecord("pump_fun");
    const verdicts = new Verdicts(isGuarding);
    verdicts.add(record);
    record.note({ ...answer, slot: 1n, builds: new Map() });
    expect(verdicts.standingOf(record)).toMatchObject({
      withheld: undefined,
      refusesLean: isGuarding ? "older" : undefined,
    });
    record.note({ ...kept, slot: 2n, builds: new Map() });
    expect(verdicts.standingOf(record).refusesLean).toBeUndefined();
  }
});

test("where a program refuses one market's lean form, those that were not tried in it are traded without", () => {
  const [kept, refused] = [check(pumpFun as Venue), check(dropped)].map((one) => ({
    ...one,
    slot: 1n,
    builds: new Map(),
  }));
  const verdicts = new Verdicts(true);
  const [known, unchecked, tried] = [1, 2, 3].map(() => new MarketRecord("pump_fun"));
  const refusals = () => [known, unchecked, tried].map((record) => verdicts.standingOf(record!).refusesLean);
  for (const record of [known, unchecked, tried]) verdicts.add(record!);
  tried!.note(kept!);
  expect(verdicts.settle("pump_fun")).toBe(false);
  expect(refusals()).toEqual([undefined, undefined, undefined]);
  known!.note(refused!);
  // The holders of the venue's other markets are notified.
  expect(verdicts.settle("pump_fun")).toBe(true);
  expect(refusals()).toEqual(["older", "older", undefined]);
  // Of two refusals the wider one holds where nothing was tried.
  const fourth = new MarketRecord("pump_fun");
  verdicts.add(fourth);
  fourth.note({ ...refused!, isOlderAlone: false });
  verdicts.settle("pump_fun");
  expect(refusals()).toEqual(["older", "all", undefined]);
  verdicts.delete(fourth);
  // A check in which no trade has a lean form leaves what is known of it, until the program is another.
  known!.note({ ...refused!, leanSamples: 0, leanDifference: undefined });
  verdicts.settle("pump_fun");
  expect(refusals()).toEqual(["older", "older", undefined]);
  known!.note({ ...refused!, leanSamples: 0, leanDifference: undefined, builds: new Map([[coin.mint, 2n]]) });
  verdicts.settle("pump_fun");
  expect(refusals()).toEqual([undefined, undefined, undefined]);
});
