import { createAccountReader } from "../../chain/rpc/accounts/account-reader.ts";
import type { RpcEndpoint } from "../../chain/rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../chain/rpc/rpc-pool.ts";
import type { StateWitness } from "../../chain/state/compare/witness-nodes.ts";

/** Every node of the pool by itself, as a witness of account state. */
export function stateWitnesses(
  pool: RpcPool,
  {
    trusted,
    isCredible,
  }: {
    /** The node whose word decides a contradiction. */
    readonly trusted: RpcEndpoint | undefined;
    /** False for a slot the chain cannot be at. */
    readonly isCredible: (slot: bigint) => boolean;
  },
): readonly StateWitness[] {
  return pool.endpoints.map((endpoint) => ({
    name: endpoint.name,
    isTrusted: endpoint === trusted,
    reader: createAccountReader({ pool, only: endpoint, commitment: "processed", isCredible }),
    setAside: (forMs) => endpoint.setAside(forMs),
  }));
}
