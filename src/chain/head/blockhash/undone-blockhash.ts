import bs58 from "bs58";
import type { Lifetime } from "../../port.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asContext } from "../../rpc/rpc-values.ts";

/** A blockhash is needed several times a second: a node that takes longer than this does not count. Milliseconds. */
const TIMEOUT_MS = 1_000;
/** Nodes that must no longer know the blockhash, if that many are configured. */
const QUORUM = 2;

/**
 * True if nodes past the blockhash's slot do not know it, and no node knows it: its chain was undone. A node that has not reached the slot
 * does not count. Never rejects.
 */
export async function isUndone(
  pool: Pick<RpcPool, "endpoints" | "ask">,
  { blockhash, slot }: Lifetime,
): Promise<boolean> {
  const params = [bs58.encode(blockhash), { commitment: "processed" }];
  const answers = await Promise.allSettled(
    pool.endpoints.map(async (endpoint) => {
      const answer = asContext(
        await pool.ask(endpoint, "isBlockhashValid", params, TIMEOUT_MS),
        "a blockhash's validity",
      );
      return answer.slot >= slot ? answer.value : undefined;
    }),
  );
  const words = answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const unknown = words.filter((isKnown) => isKnown === false).length;
  return unknown >= Math.min(QUORUM, pool.endpoints.length) && !words.includes(true);
}
