import { expect, test } from "vitest";
import { TradewireError } from "../errors/tradewire-error.ts";
import { Batches } from "./batches.ts";

/** Batches whose work ends when the test says so. */
function held(inFlight = 1, most = 3, isShared = false) {
  const sent: { readonly items: readonly string[]; readonly end: PromiseWithResolvers<readonly string[]> }[] = [];
  const batches = new Batches<string, string>({
    run: (items) => {
      const end = Promise.withResolvers<readonly string[]>();
      sent.push({ items, end });
      return end.promise;
    },
    most,
    inFlight,
    isShared,
  });
  return { sent, batches, add: (key: string, item = key) => batches.add(key, item) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("items of one turn go together, those that come meanwhile go next, each with its own result", async () => {
  const { sent, add } = held();
  const first = [add("a"), add("b")];
  await turn();
  const next = [add("c"), add("d"), add("e"), add("f")];
  await turn();
  expect(sent.map(({ items }) => items)).toEqual([["a", "b"]]);
  sent[0]!.end.resolve(["A", "B"]);
  expect(await Promise.all(first)).toEqual(["A", "B"]);
  await turn();
  expect(sent[1]!.items).toEqual(["c", "d", "e"]);
  sent[1]!.end.resolve(["C", "D", "E"]);
  await turn();
  expect(sent[2]!.items).toEqual(["f"]);
  sent[2]!.end.resolve(["F"]);
  expect(await Promise.all(next)).toEqual(["C", "D", "E", "F"]);
});

test("batches in flight reach their bound, and no batch has a key twice", async () => {
  const { sent, add } = held(2);
  void add("a", "a1");
  void add("a", "a2");
  void add("b");
  await turn();
  expect(sent.map(({ items }) => items)).toEqual([["a1", "b"], ["a2"]]);
  void add("c");
  await turn();
  expect(sent).toHaveLength(2);
});

test("shared items of a key that wait together have one result, of a batch that was sent after the last was added", async () => {
  const { sent, add } = held(1, 3, true);
  const first = add("a");
  await turn();
  const next = Array.from({ length: 1_000 }, () => add("a"));
  sent[0]!.end.resolve(["old"]);
  expect(await first).toBe("old");
  await turn();
  const last = add("a");
  sent[1]!.end.resolve(["new"]);
  expect(new Set(await Promise.all(next))).toEqual(new Set(["new"]));
  await turn();
  sent[2]!.end.resolve(["newest"]);
  expect(await last).toBe("newest");
  await turn();
  expect(sent).toHaveLength(3);
});

test("items of one turn that fill more batches than may be in flight wait for one to end", async () => {
  const { sent, add } = held(2, 1);
  for (const key of ["a", "b", "c"]) void add(key);
  await turn();
  expect(sent.map(({ items }) => items)).toEqual([["a"], ["b"]]);
  sent[0]!.end.resolve(["A"]);
  await turn();
  expect(sent.map(({ items }) => items)).toEqual([["a"], ["b"], ["c"]]);
});

test("a hundred thousand items of one key cost what they are, and hold up no other", async () => {
  const done: string[] = [];
  const run = async (items: readonly string[]) => {
    done.push(...items);
    return items;
  };
  const batches = new Batches<string, string>({ run, most: 100, inFlight: 1 });
  const all = Array.from({ length: 100_000 }, (_, i) => batches.add("a", `a${i}`));
  all.push(batches.add("b", "b"));
  await Promise.all(all);
  expect(done.slice(0, 4)).toEqual(["a0", "b", "a1", "a2"]);
  expect(done).toHaveLength(100_001);
});

test("a faulty item fails alone, an outage fails the batch once, and work goes on", async () => {
  const { sent, add } = held();
  const faulty = [add("a"), add("b")].map((one) => one.catch((error: Error) => error.message));
  await turn();
  sent[0]!.end.reject(new Error("syntax"));
  await turn();
  expect(sent.slice(1).map(({ items }) => items)).toEqual([["a"], ["b"]]);
  sent[1]!.end.reject(new Error("faulty"));
  sent[2]!.end.resolve(["B"]);
  expect(await Promise.all(faulty)).toEqual(["faulty", "B"]);
  const lost = [add("c"), add("d")].map((one) => one.catch((error: TradewireError) => error.code));
  await turn();
  sent[3]!.end.reject(new TradewireError("UPSTREAM_ERROR", "away"));
  expect(await Promise.all(lost)).toEqual(["UPSTREAM_ERROR", "UPSTREAM_ERROR"]);
  const last = add("e");
  await turn();
  expect(sent).toHaveLength(5);
  sent[4]!.end.resolve(["E"]);
  expect(await last).toBe("E");
});
