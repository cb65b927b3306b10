import type { LiveKeyDirectory } from "../../accounts/keys/key-directory.ts";
import type { Readiness } from "../../api/observe/admin.ts";

/** The store is probed every second; it counts as silent after two missed probes and a margin. */
const STORE_SILENT_MS = 3_000;

interface HealthParts {
  readonly head: { slotAgeMs(): number };
  readonly keys: Pick<LiveKeyDirectory, "storeAgeMs">;
  /** A head older than this is stale. Milliseconds. */
  readonly maxAgeMs: number;
}

/** Whether the service can build trades, and whether it wants new callers. */
export class Health {
  readonly #parts: HealthParts;
  #draining = false;

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /** Says from now on that the service is not ready. */
  startDraining(): void {
    this.#draining = true;
  }

  /** True while the chain's state is fresh enough to build on. */
  isServing(): boolean {
    return this.#parts.head.slotAgeMs() < this.#parts.maxAgeMs;
  }

  /** True if a balancer should send callers here. */
  isReady(): boolean {
    return this.isServing() && !this.#draining;
  }

  /** Readiness with its reasons, for `/readyz`. */
  readiness(): Readiness {
    // A silent store stops registration and first uses of keys; known callers keep trading. It alone does not make a
    // process unready: all processes would leave the balancer at once.
    const storeAnswers = this.#parts.keys.storeAgeMs() < STORE_SILENT_MS;
    return {
      ready: this.isReady(),
      checks: {
        chain: this.isServing() ? "ok" : `the last slot was seen ${this.#parts.head.slotAgeMs()} ms ago`,
        store: storeAnswers ? "ok" : "does not answer: registration and keys not used before are refused",
        process: this.#draining ? "draining" : "ok",
      },
    };
  }
}
