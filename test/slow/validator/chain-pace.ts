import { setTimeout as sleep } from "node:timers/promises";
import type { JudgeLedger } from "./ledger.ts";

const PERIOD_MS = 100;

/** Block heights of a chain, with the times at which a plain call showed them. */
export interface ChainPace {
  /** Milliseconds per block between two times, by the heights seen there; Infinity if none passed. */
  between(fromMs: number, toMs: number): number;
  /** The longest time in which no block was seen. Milliseconds. */
  longestMs(): number;
  stop(): Promise<void>;
}

/** Follows the height of a chain by calls that share no code with the service. */
export function followPace(ledger: JudgeLedger): ChainPace {
  const seen: { readonly height: number; readonly atMs: number }[] = [];
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      const height = await ledger.call<number>("getBlockHeight", [{ commitment: "processed" }]).catch(() => undefined);
      if (height !== undefined) seen.push({ height, atMs: Date.now() });
      await sleep(PERIOD_MS);
    }
  })();
  return {
    between(fromMs, toMs) {
      const within = seen.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
      const [first, last] = [within[0], within.at(-1)];
      if (first === undefined || last === undefined || last.height === first.height) return Infinity;
      return (last.atMs - first.atMs) / (last.height - first.height);
    },
    longestMs() {
      let [longestMs, sinceMs] = [0, seen[0]?.atMs ?? 0];
      seen.forEach(({ height, atMs }, i) => {
        longestMs = Math.max(longestMs, atMs - sinceMs);
        if (i > 0 && height > seen[i - 1]!.height) sinceMs = atMs;
      });
      return longestMs;
    },
    stop() {
      isStopped = true;
      return running;
    },
  };
}
