import type { LiveKeyDirectory } from "../../accounts/keys/key-directory.ts";
import type { Store } from "../../accounts/store/store.ts";
import type { Readiness } from "../../api/observe/admin.ts";

/** The store is probed every second; it counts as silent after two missed probes and a margin. */
const STORE_SILENT_MS = 3_000;

interface HealthParts {
  readonly head: { silenceMs(): number; fault(): string | undefined };
  readonly keys: Pick<LiveKeyDirectory, "storeAgeMs">;
  readonly store: Pick<Store, "writeRefusal">;
  /** State older than this is stale. Milliseconds. */
  readonly maxAgeMs: number;
}

/** Whether the service can build trades and submit them, and whether it wants new callers. */
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

  /** True while the chain's state, blockhash and clock are fresh enough to build on. */
  canBuild(): boolean {
    return this.#buildFault() === undefined;
  }

  /**
   * True if a balancer should send callers here. A pause of builds alone does not count: what pauses them is mostly the
   * chain or a node that all processes share, submits and look-ups still work, and all processes would leave the balancer at once.
   */
  isReady(): boolean {
    return !this.#draining;
  }

  /** Readiness with its reasons, for `/readyz`. */
  readiness(): Readiness {
    const fault = this.#buildFault();
    return {
      ready: this.isReady(),
      builds: this.isReady() && fault === undefined,
      submits: this.isReady(),
      checks: {
        chain: fault ?? "ok",
        store: this.#storeFault() ?? "ok",
        process: this.#draining ? "draining" : "ok",
      },
    };
  }

  /** A fault of the store makes nothing unready: known callers keep trading. */
  #storeFault(): string | undefined {
    const { keys, store } = this.#parts;
    if (keys.storeAgeMs() >= STORE_SILENT_MS)
      return "does not answer: registration and keys not used before are refused";
    const refusal = store.writeRefusal();
    return refusal && `writes fail (${refusal}): registration is refused, and trades go on without a record`;
  }

  #buildFault(): string | undefined {
    const { head, maxAgeMs } = this.#parts;
    const silenceMs = Math.round(head.silenceMs());
    return silenceMs < maxAgeMs ? head.fault() : `no node has shown the newest slot for ${silenceMs} ms`;
  }
}
