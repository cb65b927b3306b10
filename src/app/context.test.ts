import { expect, test } from "vitest";
import { Closers } from "./context.ts";

test("a part that fails to close keeps no other open, and its error is told once all are closed", async () => {
  const closed: string[] = [];
  const closers = new Closers();
  closers.add(() => closed.push("store"));
  closers.add(async () => {
    throw new Error("landing");
  });
  closers.add(() => {
    throw new Error("markets");
  });
  closers.add(() => closed.push("api"));
  await expect(closers.close()).rejects.toThrow("markets");
  expect(closed).toEqual(["api", "store"]);
  await closers.close();
});
