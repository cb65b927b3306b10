/** Runs `npm run lint` and `npm run typecheck` side by side, and fails with every one that does: `node scripts/check.ts`. */
import { spawn } from "node:child_process";

/** @returns the script's exit code */
function run(script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--run", script], { stdio: "inherit" });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

const codes = await Promise.all(["lint", "typecheck"].map(run));
process.exitCode = Math.max(...codes);
