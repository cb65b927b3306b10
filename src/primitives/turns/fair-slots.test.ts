import { expect, it } from "vitest";
import { FairSlots } from "./fair-slots.ts";

/** Work that ends when it is told to. */
function workOn(slots: FairSlots) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (owner: string, name: string) =>
    slots.run(owner, () => {
      begun.push(name);
      return new Promise<string>((end) => ends.push(() => end(name)));
    });
  const endOne = async () => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  return { begun, add, endOne };
}

it("runs as many at a time as there are slots, and those who wait by turns", async () => {
  const { begun, add, endOne } = workOn(new FairSlots(2));
  const first = add("a", "a0");
  for (let i = 1; i < 5; i++) void add("a", `a${i}`);
  void add("b", "b0");
  void add("c", "c0");
  expect(begun).toEqual(["a0", "a1"]);
  await endOne();
  expect(await first).toBe("a0");
  for (let i = 0; i < 4; i++) await endOne();
  expect(begun).toEqual(["a0", "a1", "a2", "b0", "c0", "a3", "a4"]);
  for (let i = 0; i < 2; i++) await endOne();
  void add("d", "d0");
  expect(begun.at(-1)).toBe("d0");
});

it("passes the slot of work that fails on, and its error to who added it", async () => {
  const slots = new FairSlots(1);
  const failing = slots.run("a", () => Promise.reject(new Error("broken")));
  const next = slots.run("b", async () => "done");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
  expect(await slots.run("a", async () => "free")).toBe("free");
});
