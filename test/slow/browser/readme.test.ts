import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, launch } from "./browser.ts";

const chromium = findChromium();
/** What a person may take from `npm start` to a trade that has landed. */
const PROMISED_MS = 120_000;
/** Ports of the machine's choice, so that nothing else on it is in the way; all else is as a reader has it. */
const ANY_PORTS = { PORT: "0", ADMIN_PORT: "0", SANDBOX_PORT: "0" };

// A person who has only the README: a fresh clone of what is committed, installed from the registry or npm's cache.
describe.skipIf(chromium === undefined)("the README", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-readme-"));
  // Nothing of this folder's own programs, such as its Node.
  const places = process.env.PATH!.split(":").filter((place) => !place.includes("node_modules"));
  const environment = { PATH: places.join(":"), HOME: process.env.HOME, ...ANY_PORTS };
  let browser: Browser;
  let service: ChildProcess | undefined;

  beforeAll(async () => {
    execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${process.cwd()}`, folder]);
    execFileSync("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder, env: environment });
    browser = await launch(chromium!);
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    // npm and what it runs.
    if (service?.pid !== undefined) process.kill(-service.pid);
    rmSync(folder, { recursive: true, force: true });
  }, 600_000);

  it("installs with the npm that comes with Node 20, too", () => {
    const args = [
      "exec",
      "--yes",
      "npm@10.8.2",
      "--",
      "ci",
      "--dry-run",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
    ];
    execFileSync("npm", args, { cwd: folder, env: environment });
  });

  it("leads from npm start to a trade in the browser in five steps and two minutes", async () => {
    const words = readFileSync(join(folder, "README.md"), "utf8").replace(/\s+/g, " ");
    const [, command, path, wallet] =
      /in a browser, run `([^`]+)` and open `([^`]+)` at the address it prints: a (\S+ wallet) with test money is one click away/.exec(
        words,
      )!;
    const beganMs = Date.now();
    const [program, ...args] = command!.split(" ");
    service = spawn(program!, args, {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(PROMISED_MS);

    let steps = 0;
    const step = async (act: () => Promise<unknown>) => {
      steps++;
      await act();
    };
    const url = await printedUrl(service, path!);
    await step(() => page.goto(url));
    await step(() => page.getByRole("button", { name: new RegExp(wallet!, "i") }).click());
    // The page has the focus where the amount goes.
    await page.getByText(/Balance \d+ SOL/).waitFor();
    await step(() => page.keyboard.type("0.5"));
    await page.locator("#review:enabled").waitFor();
    await step(() => page.keyboard.press("Enter"));
    await step(() => page.getByRole("button", { name: "Sign and submit" }).click());
    await page.getByText("The trade landed.").waitFor();
    const tookMs = Date.now() - beganMs;
    process.stdout.write(`README: ${steps} steps, ${(tookMs / 1_000).toFixed(1)} s from ${command} to a trade\n`);
    expect(steps).toBe(5);
    expect(tookMs).toBeLessThan(PROMISED_MS);
  });
});

/** The address with this path that the service prints. @throws Error if it ends without */
function printedUrl(service: ChildProcess, path: string): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    for (const stream of [service.stdout!, service.stderr!]) {
      stream.on("data", (chunk) => {
        output += chunk;
        const url = output.split(/\s/).find((word) => word.startsWith("http://") && word.endsWith(path));
        // Lines come whole: an address is followed by the next line.
        if (url !== undefined && output.indexOf("\n", output.indexOf(url)) !== -1) resolve(url);
      });
    }
    service.once("exit", (code) => reject(new Error(`npm start ended with ${code}: ${output}`)));
  });
}
