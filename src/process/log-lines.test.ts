import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
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

test.skipIf(!existsSync("/proc/self/fd"))(
  "the last line before the end goes to a pipe that was full when it came",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "tradewire-log-"));
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      const read = Buffer.alloc(65_536);
      expect(() => {
        for (;;) writeSync(both, read);
      }).toThrow("EAGAIN");
      const lines = new LogLines(both);
      lines.write("last\n");
      expect(() => {
        for (;;) readSync(both, read);
      }).toThrow("EAGAIN");
      lines.flush();
      expect(read.toString("utf8", 0, readSync(both, read))).toBe("last\n");
    } finally {
      closeSync(both);
      rmSync(folder, { recursive: true });
    }
  },
);

test.skipIf(!existsSync("/proc/self/fd"))(
  "a pipe that nobody reads holds up no end, and loses no line while it can be written",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tradewire-log-"));
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const held = openSync(path, "w");
    const program = `
    import { LogLines } from ${JSON.stringify(new URL("log-lines.ts", import.meta.url).href)};
    const lines = new LogLines(2);
    process.on("exit", () => lines.flush());
    lines.write("first\\n");
    process.stdin.once("data", () => {
      lines.write("last\\n");
      process.exit(0);
    });
    console.log("begun");
  `;
    const start = async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", held] });
      await once(child.stdout!, "data");
      const ended = once(child, "exit");
      child.stdin!.write("end\n");
      return ended;
    };
    try {
      expect(await start()).toEqual([0, null]);
      const read = Buffer.alloc(1_024);
      expect(read.toString("utf8", 0, readSync(both, read))).toBe("first\nlast\n");
      expect(() => {
        for (;;) writeSync(both, read);
      }).toThrow("EAGAIN");
      expect(await start()).toEqual([0, null]);
    } finally {
      closeSync(held);
      closeSync(both);
      rmSync(folder, { recursive: true });
    }
  },
);
