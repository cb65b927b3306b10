import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SearchCaller } from "../port.ts";
import { DEFAULT_SEARCH_BUDGET, type SearchBudget, SearchTurns } from "./search-turns.ts";

const callerOf = (keyId: string, peer = "192.0.2.1"): SearchCaller => ({ peer, principal: { keyId } });
const NEVER = new Promise<void>(() => {});

let turns: SearchTurns;
/** Keys in the order of their turns, and how to end each turn. */
let served: string[];
let ends: (() => void)[];

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  served = [];
  ends = [];
});
afterEach(() => {
  turns.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function start(budget: Partial<SearchBudget> = {}): void {
  const networkOf = (address: string) => address.split(":")[0]!;
  turns = new SearchTurns({ budget: { ...DEFAULT_SEARCH_BUDGET, ...budget }, now: Date.now, networkOf });
}

async function ask(caller: SearchCaller | undefined, moot = NEVER): Promise<string> {
  const name = caller?.principal?.keyId ?? "nobody";
  try {
    const end = await turns.next(caller, moot);
    if (end === undefined) return "moot";
    served.push(name);
    ends.push(end);
    return "served";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("a greedy key waits behind itself, not in front of others", async () => {
  start({ atOnce: 2 });
  for (let i = 0; i < 20; i++) void ask(callerOf("greedy", "192.0.2.1"));
  void ask(callerOf("other", "192.0.2.2"));
  void ask(callerOf("third", "192.0.2.1"));
  await vi.advanceTimersByTimeAsync(0);
  // One address has half of the places.
  expect(served).toEqual(["greedy", "other"]);
  ends[0]!();
  ends[1]!();
  await vi.advanceTimersByTimeAsync(0);
  ends[2]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual(["greedy", "other", "greedy", "third"]);
});

test("a key gets its burst, then its rate, and is refused at once with the time to wait", async () => {
  start({ perKey: 2, perAddress: 0, perSecond: 0, burstSeconds: 5, atOnce: 1_000, waitMs: 1_200 });
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => ask(callerOf("one"))),
    ...Array.from({ length: 2 }, () => Promise.race([ask(callerOf("one")), Promise.resolve("waits")])),
  ]);
  expect(answers.filter((answer) => answer === "served").length).toBe(10);
  expect(answers.filter((answer) => answer === "waits").length).toBe(2);
  expect(() => turns.next(callerOf("one"), NEVER)).toThrowError(
    expect.objectContaining({ code: "RATE_LIMIT_EXCEEDED", facts: { retryAfterMs: 1_500 } }),
  );
  expect(await ask(callerOf("other"))).toBe("served");
  await vi.advanceTimersByTimeAsync(500);
  expect(served.length).toBe(12);
  await vi.advanceTimersByTimeAsync(500);
  expect(served.length).toBe(13);
});

test("keys of one address share its budget, whichever address of a network they use", async () => {
  start({ perKey: 0, perAddress: 1, perSecond: 0, burstSeconds: 3, atOnce: 100, waitMs: 900 });
  for (let key = 0; key < 3; key++) expect(await ask(callerOf(`key${key}`, `net:${key}`))).toBe("served");
  expect(await ask(callerOf("key9", "net:9"))).toBe("RATE_LIMIT_EXCEEDED");
  expect(await ask(callerOf("key9", "elsewhere:9"))).toBe("served");
});

test("the limit on all searches is never exceeded; callers that wait too long are refused as overload", async () => {
  start({ perKey: 0, perAddress: 0, perSecond: 10, burstSeconds: 1, atOnce: 1_000, waitMs: 2_000 });
  const asked = Array.from({ length: 200 }, (_, i) => ask(callerOf(`key${i}`, `192.0.2.${i}`)));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(served.length).toBe(20);
  await vi.advanceTimersByTimeAsync(5_000);
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer === "OVERLOADED").length).toBe(200 - served.length);
  // The burst, and ten a second for two seconds.
  expect(served.length).toBe(30);
});

test("a turn that is no longer needed is given back before it is used", async () => {
  start({ atOnce: 2 });
  void ask(callerOf("one"));
  const moot = Promise.withResolvers<void>();
  const waiting = ask(callerOf("one"), moot.promise);
  moot.resolve();
  expect(await waiting).toBe("moot");
  ends[0]!();
  expect(turns.state()).toEqual({ running: 0, waiting: 0, refused: 0 });
});

test("what no caller waits for is never refused", async () => {
  start({ atOnce: 1, waitMs: 100 });
  void ask(callerOf("one"));
  const background = ask(undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  ends[0]!();
  expect(await background).toBe("served");
});
