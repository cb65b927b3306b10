import { expect, test } from "vitest";
import { CheckQueue, type Routine } from "./check-queue.ts";

const READ_TOGETHER: Routine = { isSample: true, accounts: new Map() };

/** A queue whose checks end when the test says so. */
function startQueue() {
  const running = new Map<string, { readonly routine: Routine | undefined; end(): void }>();
  const queue = new CheckQueue<string>(
    (one, routine) => new Promise<void>((end) => void running.set(one, { routine, end })),
  );
  const end = async (one: string) => {
    const { end } = running.get(one)!;
    running.delete(one);
    end();
    await new Promise(setImmediate);
  };
  return { queue, running, end };
}

test("checks of markets that were read together run one by one, beside urgent ones", async () => {
  const { queue, running, end } = startQueue();
  for (const one of ["a", "b", "c"]) queue.add(one, READ_TOGETHER);
  expect([...running.keys()]).toEqual(["a"]);
  queue.add("urgent");
  expect([...running.keys()]).toEqual(["a", "urgent"]);
  await end("a");
  expect([...running.keys()]).toEqual(["urgent", "b"]);
});

test("an urgent check stays urgent, whatever is added later, and makes a waiting one urgent", async () => {
  const { queue, running, end } = startQueue();
  queue.add("a", READ_TOGETHER);
  queue.add("b", READ_TOGETHER);
  queue.add("b");
  expect(running.get("b")).toMatchObject({ routine: undefined });
  queue.add("b");
  queue.add("b", READ_TOGETHER);
  await end("b");
  expect(running.get("b")).toMatchObject({ routine: undefined });
});

test("without processor time the samples that wait are dropped, and nothing else", async () => {
  const { queue, running, end } = startQueue();
  for (const one of ["a", "b"]) queue.add(one, READ_TOGETHER);
  queue.add("c", { isSample: false, accounts: new Map() });
  queue.dropSamples();
  await end("a");
  expect([...running.keys()]).toEqual(["c"]);
});
