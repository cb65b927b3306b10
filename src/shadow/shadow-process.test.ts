import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { monotonicMs } from "../primitives/clock.ts";
import { ShadowLink } from "./shadow-link.ts";
import { startShadowProcess } from "./shadow-process.ts";

const standIn = (name: string) => new URL(`../../test/fixtures/shadow/${name}.mjs`, import.meta.url);

test.each([
  ["a check that does not end", "hangs", { hangingMs: 1_500 }],
  ["a check that takes more memory than it may", "eats-memory", {}],
])("%s ends with its process: it stays without an answer, and another process starts", async (_, entry, options) => {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  // Runs while the process can be reached: how long one takes to start, the machine decides.
  let [reachedMs, lastMs] = [0, 0];
  const nowMs = () => {
    const atMs = monotonicMs();
    if (link?.isOpen) reachedMs += atMs - lastMs;
    lastMs = atMs;
    return reachedMs;
  };
  let link: ShadowLink | undefined;
  const bounds = { memoryMiB: 256, cpuPercent: 2, ...options };
  const shadow = startShadowProcess({ entry: standIn(entry), warn, nowMs, ...bounds });
  let opened = 0;
  const reached = new ShadowLink({
    path: shadow.path,
    onOpen: () => {
      opened += 1;
      lastMs = monotonicMs();
    },
  });
  link = reached;
  try {
    await eventually(() => expect(reached.isOpen).toBe(true));
    const first = shadow.pid();
    expect(await reached.send({ kind: "listFeatures" })).toBeUndefined();
    await eventually(() => expect([undefined, first]).not.toContain(shadow.pid()));
    expect(warnings.join()).toContain("The shadow process ended (SIGKILL); starting it again.");
    await eventually(() => expect([reached.isOpen, opened > 1]).toEqual([true, true]));
  } finally {
    reached.close();
    await shadow.close();
  }
});

test("a start that the system refuses at once ends nothing: it is tried again", async () => {
  const warnings: string[] = [];
  const entry = new URL(`file:///${"long".repeat(100_000)}`);
  const bounds = { memoryMiB: 256, cpuPercent: 2, nowMs: monotonicMs };
  const shadow = startShadowProcess({ ...bounds, entry, warn: (message) => void warnings.push(message) });
  try {
    await eventually(() => expect(warnings.length).toBeGreaterThan(1));
    expect(new Set(warnings).size).toBe(1);
    expect(warnings[0]).toMatch(/^The shadow process ended \(.*E2BIG.*\); starting it again/);
  } finally {
    await shadow.close();
  }
});

test("the shadow process of a killed service ends silently, though it had a question to answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-shadow-"));
  const entry = fileURLToPath(new URL("./main.ts", import.meta.url));
  const service = fork(standIn("dies-asking"), [entry, join(folder, "socket")], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  try {
    const [pid, said, [, signal]] = [text(service.stdout!), text(service.stderr!), await once(service, "exit")];
    expect(signal).toBe("SIGKILL");
    process.kill(Number(await pid), "SIGCONT");
    expect(await said).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
