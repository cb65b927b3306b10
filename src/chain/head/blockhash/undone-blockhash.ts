import bs58 from "bs58";
import type { Lifetime } from "../../port.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asContext } from "../../rpc/rpc-values.ts";

/** A blockhash is wanted several times a second: a node that takes longer says nothing. Milliseconds. */
const TIMEOUT_MS = 1_000;
/** Nodes that must no longer know it, if that many are configured. */
const QUORUM = 2;

/**
 * True if nodes that have come past its slot do not know the blockhash, and none knows it: with the chain it was of, it is undone. A
 * node that has yet to come there says nothing. Never rejects.
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
