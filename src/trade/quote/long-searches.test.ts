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
  const searches = new LongSearches({ pause: async () => undefined });
  const log: string[] = [];
  const long = searches.run(search("a", 2, log));
  expect(searches.run(search("b", 0, log))).toBe("b");
  expect(await long).toBe("a");
  expect(allAtOnce(search("c", 3, [])())).toBe("c");
});

test("long searches run one after another, each from the start in its turn, with a pause before each step", async () => {
  const log: string[] = [];
  const searches = new LongSearches({ pause: async () => void log.push("pause") });
  const both = [searches.run(search("a", 2, log)), searches.run(search("b", 1, log))];
  expect(log).toEqual(["a0", "b0"]);
  expect(await Promise.all(both)).toEqual(["a", "b"]);
  expect(log.slice(2)).toEqual(["pause", "a0", "pause", "a1", "pause", "pause", "b0", "pause"]);
});

test("one that fails holds up no other, and of too many the last ones search nothing", async () => {
  const searches = new LongSearches({ pause: async () => undefined });
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

test("one that cannot begin in its turn fails alone", async () => {
  const searches = new LongSearches({ pause: async () => undefined });
  let starts = 0;
  const failing = searches.run((): Steps<string> => {
    if (++starts > 1) throw new Error("no blockhash");
    return search("a", 1, [])();
  });
  const next = searches.run(search("b", 1, []));
  await expect(failing).rejects.toThrow("no blockhash");
  expect(await next).toBe("b");
  expect(await searches.run(search("c", 1, []))).toBe("c");
});

/** Notes its name when it runs in its turn. */
function noted(name: string, log: string[]): (isAllowed: boolean) => Steps<string> {
  let starts = 0;
  return function* (isAllowed) {
    starts++;
    if (!isAllowed) return `${name} without`;
    if (starts > 1) log.push(name);
    yield;
    return name;
  };
}

const caller = (peer: string, keyId: string) => ({ peer, principal: { keyId } });

test("of a key that takes all places others get theirs, and every second turn", async () => {
  const log: string[] = [];
  const searches = new LongSearches({ pause: async () => undefined });
  const many = Array.from({ length: 40 }, (_, index) =>
    searches.run(noted("many", log), caller(`192.0.2.${index}`, "many")),
  );
  const few = Array.from({ length: 3 }, () => searches.run(noted("few", log), caller("198.51.100.1", "few")));
  const answers = await Promise.all(many);
  expect(answers.filter((one) => one === "many")).toHaveLength(32 - few.length);
  expect(await Promise.all(few)).toEqual(["few", "few", "few"]);
  expect(log.slice(0, 6)).toEqual(["many", "few", "many", "few", "many", "few"]);
});

test("an address with many keys is one caller too, by its network", async () => {
  const log: string[] = [];
  const searches = new LongSearches({
    pause: async () => undefined,
    networkOf: (address) => address.split(":")[0]!,
  });
  const many = Array.from({ length: 40 }, (_, index) =>
    searches.run(noted("many", log), caller(`net:${index}`, `key ${index}`)),
  );
  const other = searches.run(noted("other", log), caller("elsewhere", "other"));
  expect((await Promise.all(many)).filter((one) => one === "many")).toHaveLength(31);
  expect(await other).toBe("other");
  expect(log.indexOf("other")).toBeLessThan(2);
  // Nothing is left of them.
  const again = Array.from({ length: 32 }, () => searches.run(noted("again", log), caller("net:1", "k")));
  expect(await Promise.all(again)).toEqual(Array(32).fill("again"));
});

test("callers with equal shares of all places take none from each other", async () => {
  const log: string[] = [];
  const searches = new LongSearches({ pause: async () => undefined });
  const all = Array.from({ length: 32 }, (_, index) =>
    searches.run(noted(`${index}`, log), caller(`192.0.2.${index}`, `key ${index}`)),
  );
  expect(searches.run(noted("last", log), caller("198.51.100.1", "last"))).toBe("last without");
  expect(await Promise.all(all)).toEqual(Array.from({ length: 32 }, (_, index) => `${index}`));
});

test("a caller who had a turn waits no longer than the places for callers that never had one", async () => {
  const log: string[] = [];
  const searches = new LongSearches({ pause: async () => undefined });
  const run = (name: string) => searches.run(noted(name, log), caller(name, name)) as Promise<string>;
  await run("regular");
  const others: Promise<string>[] = [];
  let isServed = false;
  const join = async (name: string): Promise<void> => {
    const search = run(name);
    others.push(search);
    await search;
    if (!isServed && others.length < 300) void join(`new ${others.length}`);
  };
  void join("new");
  void join("newer");
  await run("regular");
  isServed = true;
  expect(log.lastIndexOf("regular")).toBeLessThan(40);
  await Promise.all(others);
});
