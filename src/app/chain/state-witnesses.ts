import { createAccountReader } from "../../chain/rpc/account-reader.ts";
import type { RpcEndpoint } from "../../chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../../chain/rpc/rpc-pool.ts";
import type { StateWitness } from "../../chain/state/compare/witness-nodes.ts";
import type { Now } from "../../primitives/clock.ts";

/** Every node by itself, as a witness of account state. */
export function stateWitnesses(
  endpoints: readonly RpcEndpoint[],
  {
    now,
    warn,
    trusted,
    isCredible,
  }: {
    readonly now: Now;
    readonly warn: (message: string) => void;
    /** The node whose word decides a contradiction. */
    readonly trusted: RpcEndpoint | undefined;
    /** False for a slot the chain cannot be at. */
    readonly isCredible: (slot: bigint) => boolean;
  },
): readonly StateWitness[] {
  return endpoints.map((endpoint) => ({
    name: endpoint.name,
    isTrusted: endpoint === trusted,
    reader: createAccountReader({
      pool: createRpcPool({ endpoints: [endpoint], now, warn }),
      commitment: "processed",
      isCredible,
    }),
    setAside: (forMs) => endpoint.setAside(forMs),
  }));
}
