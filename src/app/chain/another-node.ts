import type { AccountReader } from "../../chain/port.ts";
import { createAccountReader } from "../../chain/rpc/accounts/account-reader.ts";
import type { RpcPool } from "../../chain/rpc/rpc-pool.ts";

/**
 * Reads accounts from another node than the one at that place: the next one that is reached, else the next; undefined if there
 * is no other.
 *
 * @param isCredible false for a slot the chain cannot be at
 */
export function anotherNode(
  pool: RpcPool,
  isCredible: (slot: bigint) => boolean,
): (node: number) => Pick<AccountReader, "fetchAccounts"> | undefined {
  const { endpoints } = pool;
  const readers = endpoints.map((only) => createAccountReader({ pool, only, commitment: "processed", isCredible }));
  return (node) => {
    const others = endpoints.map((_, i) => (node + i) % endpoints.length).slice(1);
    const next = others.find((i) => !endpoints[i]!.isCooling()) ?? others[0];
    return next === undefined ? undefined : readers[next];
  };
}
