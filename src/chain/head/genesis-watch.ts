import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asText } from "../rpc/rpc-values.ts";

interface GenesisWatchOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly warn: (message: string) => void;
  readonly onForeignChain?: ((message: string) => void) | undefined;
}

/** Consecutive checks that must agree: one answer could be an error. */
const CHECKS = 2;

/**
 * Notices nodes that come to serve another chain under the same URL. One of several is reported once and doubted for as long as
 * it does; if all that answer do, nothing that was built or submitted here means anything there, and the process has to start
 * anew: tokens, markets and heights are another chain's.
 */
export class GenesisWatch {
  readonly #pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly #warn: (message: string) => void;
  readonly #onForeignChain: ((message: string) => void) | undefined;
  readonly #foreign = new Set<RpcEndpoint>();
  #foreignChecks = 0;

  constructor({ pool, warn, onForeignChain }: GenesisWatchOptions) {
    this.#pool = pool;
    this.#warn = warn;
    this.#onForeignChain = onForeignChain;
  }

  /** Asks every node for its genesis hash. Never rejects: a node that does not answer says nothing. */
  async check(expected: string): Promise<void> {
    const answers = await Promise.all(this.#pool.endpoints.map((endpoint) => this.#fetchGenesis(endpoint)));
    const known = answers.filter((genesis) => genesis !== undefined);
    const isForeign = known.length > 0 && known.every((genesis) => genesis !== expected);
    if (isForeign) return this.#noteForeign(expected, known[0]!);
    this.#foreignChecks = 0;
    this.#pool.endpoints.forEach((endpoint, i) => void this.#note(endpoint, answers[i], expected));
  }

  #note(endpoint: RpcEndpoint, genesis: string | undefined, expected: string): void {
    if (genesis === undefined) return;
    if (genesis === expected) {
      this.#foreign.delete(endpoint);
      return;
    }
    endpoint.doubt();
    if (this.#foreign.has(endpoint)) return;
    this.#foreign.add(endpoint);
    this.#warn(
      `The Solana node ${endpoint.name} serves another chain, with genesis ${genesis} in place of ${expected}; the other nodes are asked first.`,
    );
  }

  #noteForeign(expected: string, genesis: string): void {
    this.#foreignChecks += 1;
    if (this.#foreignChecks !== CHECKS) return;
    const message = `The Solana nodes serve another chain, with genesis ${genesis} in place of ${expected}; the service stops, to be started on the new chain.`;
    if (this.#onForeignChain === undefined) this.#warn(message);
    else this.#onForeignChain(message);
  }

  async #fetchGenesis(endpoint: RpcEndpoint): Promise<string | undefined> {
    try {
      return asText(await this.#pool.ask(endpoint, "getGenesisHash", []), "a genesis hash");
    } catch {
      return undefined;
    }
  }
}
