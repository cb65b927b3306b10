import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { LogLines } from "./log-lines.ts";

test("lines are written in order, those that still wait at the end too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-log-"));
  const path = join(folder, "log");
  const fd = openSync(path, "a");
  try {
    const lines = new LogLines(fd);
    const all = Array.from({ length: 1_000 }, (_, i) => `line ${i} ≤\n`);
    for (const line of all.slice(0, 900)) lines.write(line);
    await eventually(() => expect(readFileSync(path, "utf8")).toBe(all.slice(0, 900).join("")));
    for (const line of all.slice(900)) lines.write(line);
    lines.flush();
    await eventually(() =>
      expect(readFileSync(path, "utf8").split("\n").sort()).toEqual(all.join("").split("\n").sort()),
    );
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(!existsSync("/dev/full"))("a full disk ends nothing, and nothing waits for it", () => {
  // Left open: what waits is tried again.
  const fd = openSync("/dev/full", "w");
  const lines = new LogLines(fd);
  lines.write("one\n");
  lines.flush();
  lines.write("two\n");
  lines.flush();
});
