/**
 * The test command: runs the fast tests, and `npm run lint` and `npm run typecheck` beside them, on processor time that the
 * tests leave while they wait. Arguments go to vitest. What lint and types say is printed as each ends; fails with every one that does.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const vitest = fileURLToPath(import.meta.resolve("vitest/package.json")).replace(/package\.json$/, "vitest.mjs");

/** Prints a script's output in one piece once it ends. @returns its exit code */
function check(script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--run", script], { stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("error", reject);
    child.once("close", (code) => {
      process.stdout.write(Buffer.concat(chunks));
      process.stdout.write(`npm run ${script}: ${code === 0 ? "ok" : "FAILED"}\n`);
      resolve(code ?? 1);
    });
  });
}

/** @returns the exit code of vitest */
function runTests(): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, "run", ...process.argv.slice(2)], {
      stdio: "inherit",
    });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

const [tests, ...checks] = await Promise.all([runTests(), check("lint"), check("typecheck")]);
for (const [i, script] of ["lint", "typecheck"].entries())
  if (checks[i] !== 0) process.stdout.write(`npm run ${script} FAILED: what it says stands above.\n`);
process.exitCode = Math.max(tests, ...checks);
