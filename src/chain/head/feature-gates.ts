import type { Address } from "../../primitives/address.ts";
import { FEATURE_PROGRAM, TRANSACTION_V1_FEATURE } from "../../solana/features.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asAccount, asContext, asListOf } from "../rpc/rpc-values.ts";

/** The features that decide what is built. */
const BUILD_FEATURES: readonly Address[] = [TRANSACTION_V1_FEATURE];
const ACTIVATED = 1;
/** Accounts that nodes answer with at a time. */
const MAX_PER_CALL = 100;

interface FeatureGatesOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
  /** Absent: those that decide what is built. */
  readonly features?: readonly Address[];
}

/** Known state of one feature. */
interface Known {
  readonly isActive: boolean;
  /** True if the trusted node said so, or at least two nodes and more than said the opposite; with one node, its word. */
  readonly isProven: boolean;
}

/**
 * What the cluster has activated, from its feature accounts, as most nodes report it. A node accepts a transaction of a form that is not
 * active and silently drops it; unknown is inactive. The trusted node decides. If the nodes are divided, or only one of several answers,
 * what was proven stays. If nothing was proven, a divided answer counts as inactive, and the word of a node that answers alone counts.
 */
export class FeatureGates {
  readonly #pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly #trusted: RpcEndpoint | undefined;
  readonly #features: readonly Address[];
  readonly #known = new Map<Address, Known>();

  constructor({ pool, trusted, features = BUILD_FEATURES }: FeatureGatesOptions) {
    this.#pool = pool;
    this.#trusted = trusted;
    this.#features = features;
  }

  isActive(feature: Address): boolean {
    return this.#known.get(feature)?.isActive === true;
  }

  /** Asks every node. What is known stays if none answers. Never rejects. */
  async refresh(): Promise<void> {
    const { endpoints } = this.#pool;
    const settled = await Promise.allSettled(endpoints.map((endpoint) => this.#fetchActive(endpoint)));
    const said = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (said.length === 0) return;
    const trusted = settled[this.#trusted === undefined ? -1 : endpoints.indexOf(this.#trusted)];
    for (const feature of this.#features) {
      const word = trusted?.status === "fulfilled" ? [trusted.value] : said;
      const isEnough = word !== said || said.length > 1 || endpoints.length === 1;
      this.#decide(feature, word.filter((active) => active.has(feature)).length, word.length, isEnough);
    }
  }

  /** @param isEnough true if the majority of these answers proves it */
  #decide(feature: Address, yes: number, asked: number, isEnough: boolean): void {
    const isProven = isEnough && 2 * yes !== asked;
    if (isProven || this.#known.get(feature)?.isProven !== true)
      this.#known.set(feature, { isActive: 2 * yes > asked, isProven });
  }

  /** The features that the node shows as active. @throws NodeError */
  async #fetchActive(endpoint: RpcEndpoint): Promise<ReadonlySet<Address>> {
    const active = new Set<Address>();
    for (let at = 0; at < this.#features.length; at += MAX_PER_CALL) {
      const features = this.#features.slice(at, at + MAX_PER_CALL);
      const params = [features.map(String), { encoding: "base64", commitment: "confirmed" }];
      const answer = await this.#pool.ask(endpoint, "getMultipleAccounts", params);
      const { slot, value } = asContext(answer, "feature accounts");
      const accounts = asListOf(features.length, value, "feature accounts");
      features.forEach((feature, i) => {
        const account = asAccount(feature, accounts[i], slot);
        // The data is an optional activation slot: a feature that still waits for its epoch has none.
        const isActive =
          account?.owner === FEATURE_PROGRAM && account.data.length >= 9 && account.data[0] === ACTIVATED;
        if (isActive) active.add(feature);
      });
    }
    return active;
  }
}
