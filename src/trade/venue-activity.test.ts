import { expect, test } from "vitest";
import { TradewireError } from "../errors/tradewire-error.ts";
import { VenueActivity } from "./venue-activity.ts";

const VENUES = ["a", "b", "c"];
const NONE = { quotes: 0, builds: 0, landed: 0, withheld: 0, refused: 0, slippage: 0, failed: 0 };
const answer = (venues: readonly string[], withheld?: readonly string[]) =>
  ({ route: venues.map((venue) => ({ venue })), withheld }) as never;

test("counts an answer once for each venue of its route, at once or late, and hands it on", async () => {
  const activity = new VenueActivity(VENUES);
  const built = answer(["a", "b", "a"]);
  expect(activity.observe("builds", () => built)).toBe(built);
  expect(await activity.observe("quotes", async () => built)).toBe(built);
  expect(activity.counts()).toEqual(
    new Map([
      ["a", { ...NONE, quotes: 1, builds: 1 }],
      ["b", { ...NONE, quotes: 1, builds: 1 }],
      ["c", NONE],
    ]),
  );
});

test("counts what was withheld or refused, and throws what was thrown", async () => {
  const activity = new VenueActivity(VENUES);
  activity.observe("builds", () => answer(["a"], ["b"]));
  const error = new TradewireError("NO_ROUTE", "none", { tried: { refused: ["c"], withheld: ["b"] } });
  const refuse = () => {
    throw error;
  };
  expect(() => activity.observe("quotes", refuse)).toThrow(error);
  await expect(activity.observe("builds", async () => refuse())).rejects.toBe(error);
  expect(() => activity.observe("builds", () => JSON.parse("{"))).toThrow(SyntaxError);
  const counts = activity.counts();
  expect(counts.get("b")).toEqual({ ...NONE, withheld: 3 });
  expect(counts.get("c")).toEqual({ ...NONE, refused: 2 });
});

test("counts what landed for every venue of the route, and what failed for the one whose program did", () => {
  const activity = new VenueActivity(VENUES);
  activity.noteLanded({ venues: ["a", "b"], failure: undefined });
  activity.noteLanded({ venues: ["a", "b"], failure: { code: "SLIPPAGE_EXCEEDED", venue: "b" } });
  activity.noteLanded({ venues: ["a", "b"], failure: { code: "PROGRAM_ERROR", venue: "a" } });
  activity.noteLanded({ venues: ["a", "b"], failure: { code: "INSUFFICIENT_SOL", venue: undefined } });
  expect(activity.counts().get("a")).toEqual({ ...NONE, landed: 1, failed: 1 });
  expect(activity.counts().get("b")).toEqual({ ...NONE, landed: 1, slippage: 1 });
});

test("counts nothing for a venue that there is none of: the counts stay as many as venues", () => {
  const activity = new VenueActivity(VENUES);
  activity.observe("quotes", () => answer(["other"], ["__proto__"]));
  expect([...activity.counts().keys()]).toEqual(VENUES);
  expect([...activity.counts().values()]).toEqual([NONE, NONE, NONE]);
});
