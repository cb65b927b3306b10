import { expect, test } from "vitest";
import { allAtOnce, LongSearches, type Steps } from "./long-searches.ts";

/** A search of some steps, and what it does in which order. */
function search(name: string, steps: number, log: string[]): () => Steps<string> {
  return function* () {
    for (let step = 0; step < steps; step++) {
      log.push(`${name}${step}`);
      yield;
    }
    return name;
  };
}

test("what ends with its first step ends at once, beside a search that runs", async () => {
  const searches = new LongSearches(async () => undefined);
  const log: string[] = [];
  const long = searches.run(search("a", 2, log));
  expect(searches.run(search("b", 0, log))).toBe("b");
  expect(await long).toBe("a");
  expect(allAtOnce(search("c", 3, [])())).toBe("c");
});

test("long searches run one after another, each anew in its turn, with a pause before each step", async () => {
  const log: string[] = [];
  const searches = new LongSearches(async () => void log.push("pause"));
  const both = [searches.run(search("a", 2, log)), searches.run(search("b", 1, log))];
  expect(log).toEqual(["a0", "b0"]);
  expect(await Promise.all(both)).toEqual(["a", "b"]);
  expect(log.slice(2)).toEqual(["pause", "a0", "pause", "a1", "pause", "pause", "b0", "pause"]);
});

test("one that fails holds up nobody, and of too many the last ones search nothing", async () => {
  const searches = new LongSearches(async () => undefined);
  const failing = searches.run(function* (): Steps<string> {
    yield;
    throw new Error("no");
  });
  const asked: boolean[] = [];
  const after = Array.from({ length: 40 }, () =>
    searches.run(function* (isAllowed): Steps<string> {
      asked.push(isAllowed);
      if (!isAllowed) return "without";
      yield;
      return "with";
    }),
  );
  await expect(failing).rejects.toThrow("no");
  const results = await Promise.all(after);
  expect(results.filter((one) => one === "with")).toHaveLength(31);
  expect(asked.slice(0, 40).filter((one) => !one)).toHaveLength(9);
  // The queue is empty again.
  expect(await searches.run(search("d", 1, []))).toBe("d");
});
