import { FeatureGates } from "../../chain/head/feature-gates.ts";
import type { RpcEndpoint } from "../../chain/rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../chain/rpc/rpc-pool.ts";
import { Address } from "../../primitives/address.ts";
import type { ShadowLink } from "../../shadow/shadow-link.ts";

interface ClusterFeaturesOptions {
  readonly link: Pick<ShadowLink, "send">;
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
  readonly warn: (message: string) => void;
}

/** Features are activated at the start of an epoch, which takes two days. Milliseconds. */
const RENEW_MS = 600_000;
/** A node that does not answer must not hold checks up. Milliseconds. */
const PATIENCE_MS = 5_000;

/** The features that the cluster has activated according to most nodes, as the shadow process uses them. */
export class ClusterFeatures {
  readonly #options: ClusterFeaturesOptions;
  readonly #timer: NodeJS.Timeout;
  #known: Promise<void> = Promise.resolve();
  /** Of the features listed last: what was proven of them is not undone by one node's word. */
  #gates: { readonly listed: string; readonly gates: FeatureGates } | undefined;
  #sent = "";

  constructor(options: ClusterFeaturesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.renew(), RENEW_MS);
    this.#timer.unref();
  }

  /** Reads them again; a process that was just reached is sent them whatever was sent before. */
  renew(): void {
    this.#sent = "";
    const reading = this.#read().catch((error: unknown) =>
      this.#options.warn(`Cannot read the cluster's features: ${String(error)}`),
    );
    const over = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
    this.#known = Promise.race([reading, over]);
  }

  /** Resolves when the process was sent them, or could not be. */
  known(): Promise<void> {
    return this.#known;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const { link } = this.#options;
    const listed = await link.send({ kind: "listFeatures" });
    if (listed?.kind !== "features") return;
    const gates = this.#gatesOf(listed.ids.map((id) => Address.from(id)));
    await gates.refresh();
    const active = listed.ids.filter((id) => gates.isActive(Address.from(id)));
    const sent = active.map((id) => Address.from(id).toString()).join();
    // A private chain may show none and still run with all of them, as the process does by itself.
    if (active.length === 0 || sent === this.#sent) return;
    this.#sent = sent;
    await link.send({ kind: "features", active });
  }

  #gatesOf(features: readonly Address[]): FeatureGates {
    const { pool, trusted } = this.#options;
    const listed = features.join();
    if (this.#gates?.listed !== listed) this.#gates = { listed, gates: new FeatureGates({ pool, trusted, features }) };
    return this.#gates.gates;
  }
}
