import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asText } from "../rpc/rpc-values.ts";

interface GenesisWatchOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly warn: (message: string) => void;
  readonly onForeignChain?: ((message: string) => void) | undefined;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
}

/** Consecutive checks that must agree: one answer could be an error. */
const CHECKS = 2;
/** Longest text of a genesis hash: 32 bytes in base58. */
const MAX_HASH_CHARACTERS = 44;

/**
 * Knows which chain the nodes serve, and notices nodes that switch to another chain under the same URL. A minority is logged once and
 * doubted as long as it does so. If most of the configured nodes switch, or the trusted one, the process has to restart: tokens, markets
 * and heights are another chain's, and nothing built or submitted here means anything there. Silent nodes count as configured ones, so that
 * a liar beside them is no majority.
 */
export class GenesisWatch {
  readonly #pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly #warn: (message: string) => void;
  readonly #onForeignChain: ((message: string) => void) | undefined;
  readonly #trusted: RpcEndpoint | undefined;
  readonly #foreign = new Set<RpcEndpoint>();
  #foreignChecks = 0;

  constructor({ pool, warn, onForeignChain, trusted }: GenesisWatchOptions) {
    this.#pool = pool;
    this.#warn = warn;
    this.#onForeignChain = onForeignChain;
    this.#trusted = trusted;
  }

  /**
   * The genesis hash that the trusted node names, or more nodes than any other.
   * @throws TradewireError UPSTREAM_ERROR if none answers, or the nodes are divided: no node's word is better than another's
   */
  async find(): Promise<string> {
    for (let round = 1; ; round++) {
      const found = await this.#findOnce(round === CHECKS);
      if (found !== undefined) return found;
    }
  }

  /** Undefined if the nodes are divided; at this point that is not an error yet. */
  async #findOnce(isLast: boolean): Promise<string | undefined> {
    const { endpoints } = this.#pool;
    const settled = await Promise.allSettled(endpoints.map((endpoint) => this.#readGenesis(endpoint)));
    const answers = settled.map((one) => (one.status === "fulfilled" ? one.value : undefined));
    const trusted = this.#ofTrusted(answers);
    if (trusted !== undefined) return trusted;
    const counts = new Map<string, number>();
    for (const genesis of answers) if (genesis !== undefined) counts.set(genesis, (counts.get(genesis) ?? 0) + 1);
    const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
    if (first === undefined) throw settled.find((one) => one.status === "rejected")?.reason;
    if (second?.[1] !== first[1]) return first[0];
    if (!isLast) return undefined;
    const said = endpoints.flatMap(({ name }, i) => (answers[i] === undefined ? [] : [`${name} ${answers[i]}`]));
    throw new NodeError(
      "malformed",
      `The Solana nodes serve different chains; their genesis hashes are: ${said.join(", ")}. Remove the wrong one from SOLANA_RPC_URLS, or name the right one in SOLANA_TRUSTED_RPC_URL.`,
    );
  }

  /** Asks every node for its genesis hash. Never rejects: a node that does not answer is left out. */
  async check(expected: string): Promise<void> {
    const answers = await Promise.all(this.#pool.endpoints.map((endpoint) => this.#fetchGenesis(endpoint)));
    const foreign = this.#foreignChain(answers, expected);
    if (foreign !== undefined) return this.#noteForeign(expected, foreign);
    this.#foreignChecks = 0;
    this.#pool.endpoints.forEach((endpoint, i) => void this.#note(endpoint, answers[i], expected));
  }

  /** The other chain that the trusted node, or most of the configured ones, serve now; undefined if they serve the known one. */
  #foreignChain(answers: readonly (string | undefined)[], expected: string): string | undefined {
    const trusted = this.#ofTrusted(answers);
    if (trusted !== undefined) return trusted === expected ? undefined : trusted;
    const foreign = answers.filter((genesis) => genesis !== undefined && genesis !== expected);
    return foreign.length > answers.length / 2 ? foreign[0] : undefined;
  }

  /** What the trusted node answered; undefined if it did not, or the operator named none. */
  #ofTrusted(answers: readonly (string | undefined)[]): string | undefined {
    return this.#trusted && answers[this.#pool.endpoints.indexOf(this.#trusted)];
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
      `The Solana node ${endpoint.name} serves another chain, with genesis ${genesis} instead of ${expected}; the other nodes are asked first.`,
    );
  }

  #noteForeign(expected: string, genesis: string): void {
    this.#foreignChecks += 1;
    if (this.#foreignChecks !== CHECKS) return;
    const message = `The Solana nodes serve another chain, with genesis ${genesis} instead of ${expected}; the service stops, to be started on the new chain.`;
    if (this.#onForeignChain === undefined) this.#warn(message);
    else this.#onForeignChain(message);
  }

  async #fetchGenesis(endpoint: RpcEndpoint): Promise<string | undefined> {
    try {
      return await this.#readGenesis(endpoint);
    } catch {
      return undefined;
    }
  }

  /** @throws TradewireError UPSTREAM_ERROR */
  async #readGenesis(endpoint: RpcEndpoint): Promise<string> {
    const genesis = asText(await this.#pool.ask(endpoint, "getGenesisHash", []), "a genesis hash");
    if (genesis.length > MAX_HASH_CHARACTERS)
      throw new NodeError("malformed", `The Solana node ${endpoint.name} answered getGenesisHash with no hash.`);
    return genesis;
  }
}
