import type { Address } from "../../primitives/address.ts";
import { FEATURE_PROGRAM, TRANSACTION_V1_FEATURE } from "../../solana/features.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asAccount, asContext, asList } from "../rpc/rpc-values.ts";

/** The features that decide what is built. */
const FEATURES: readonly Address[] = [TRANSACTION_V1_FEATURE];
const ACTIVATED = 1;

/**
 * What the cluster has activated, from its feature accounts. A node accepts a transaction of a form that is not active and
 * drops it without a word, so a feature counts only while every node that answers shows it; unknown is inactive.
 */
export class FeatureGates {
  readonly #pool: Pick<RpcPool, "endpoints" | "ask">;
  #active: ReadonlySet<Address> = new Set();

  constructor(pool: Pick<RpcPool, "endpoints" | "ask">) {
    this.#pool = pool;
  }

  isActive(feature: Address): boolean {
    return this.#active.has(feature);
  }

  /** Asks every node. What is known stays if none answers. Never rejects. */
  async refresh(): Promise<void> {
    const settled = await Promise.allSettled(this.#pool.endpoints.map((endpoint) => fetchActive(this.#pool, endpoint)));
    const [first, ...others] = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (first === undefined) return;
    this.#active = new Set([...first].filter((feature) => others.every((active) => active.has(feature))));
  }
}

async function fetchActive(pool: Pick<RpcPool, "ask">, endpoint: RpcEndpoint): Promise<ReadonlySet<Address>> {
  const params = [FEATURES.map(String), { encoding: "base64", commitment: "confirmed" }];
  const { slot, value } = asContext(await pool.ask(endpoint, "getMultipleAccounts", params), "feature accounts");
  const accounts = asList(value, "feature accounts");
  return new Set(
    FEATURES.filter((feature, i) => {
      const account = asAccount(feature, accounts[i] ?? null, slot);
      // An option of the slot of activation: a feature that only waits for its epoch has none.
      return account?.owner === FEATURE_PROGRAM && account.data.length >= 9 && account.data[0] === ACTIVATED;
    }),
  );
}
