import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Larger than all modules together. */
const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST_MS = 30_000;

/** What pages import: the client library's verifier, and what a wallet made in a page signs with. */
const ENTRIES = ["./client/entry/verify.ts", "@noble/ed25519", "@noble/hashes/sha2.js"];

/**
 * The modules that pages run, by path: the sources of the client library with their types removed, and its packages. Made in
 * a process of its own, because it takes a moment that no trade may wait for.
 *
 * @param prefix where they are served
 * @throws Error if that process fails
 */
export async function loadBrowserModules(prefix: string): Promise<ReadonlyMap<string, string>> {
  const script = fileURLToPath(new URL("./strip-modules.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, prefix, ...ENTRIES],
    { maxBuffer: MOST_BYTES, timeout: LONGEST_MS, env: {} },
  );
  return new Map(Object.entries(JSON.parse(stdout) as Record<string, string>));
}
