import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const LONGEST_MS = 30_000;

/**
 * What pages import: the client library's verifier, what it cannot show, and its choice of slippage, and what a wallet made in a
 * page signs with.
 */
const ENTRIES = [
  "./client/entry/verify.ts",
  "./client/proof/transfer-fee.ts",
  "./client/trading/auto-slippage.ts",
  "@noble/ed25519",
  "@noble/hashes/sha2.js",
];

/**
 * The modules that pages run, by path: the sources of the client library with their types removed, and its packages. Made in
 * a process of its own, because it takes a moment that no trade may wait for.
 *
 * @param prefix where they are served
 * @throws Error if that process fails
 */
export function loadBrowserModules(prefix: string): Promise<ReadonlyMap<string, string>> {
  const script = fileURLToPath(new URL("./strip-modules.ts", import.meta.url));
  return new Promise((resolve, reject) => {
    const stripper = fork(script, [prefix, ...ENTRIES], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      timeout: LONGEST_MS,
    });
    stripper.once("message", (modules) => resolve(new Map(Object.entries(modules as Record<string, string>))));
    stripper.once("error", reject);
    stripper.once("exit", (code) => {
      // What it sent may arrive after its end.
      if (code !== 0) reject(new Error(`removing types from the modules of pages failed (exit ${code})`));
    });
  });
}
