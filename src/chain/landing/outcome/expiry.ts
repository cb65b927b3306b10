import { minOf } from "../../../primitives/integer.ts";
import { isRefusal } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asContext, asInteger, asList, asRecord } from "../../rpc/rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "../../rpc/signature-status.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";

/** A transaction that may have expired. */
interface ExpiryCase {
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
  /** Base58; undefined if unknown. */
  readonly blockhash: string | undefined;
}

interface ExpiryFinding {
  readonly isExpired: boolean;
  /** The nodes whose finalized chain has passed it and lacks it. */
  readonly by: readonly RpcEndpoint[];
  /** A node that has seen it in a block. */
  readonly seen?: { readonly by: RpcEndpoint; readonly status: SignatureStatus } | undefined;
  /** Why it is undecided although a node finds it expired; undefined if none does. */
  readonly doubt?: string | undefined;
}

/** One endpoint's observation: its finalized slot and height and, read after them, the status of each signature. */
interface Observation {
  readonly endpoint: RpcEndpoint;
  readonly finalizedSlot: bigint;
  readonly finalizedHeight: bigint;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/**
 * Blocks after a message's last valid one in which every node still has its status in memory, whatever history it keeps.
 *
 * @see agave `MAX_CACHE_ENTRIES`: the status cache holds the last 300 roots, a message lives for 150 blocks
 */
export const STATUS_CACHE_BLOCKS = 149n;

/**
 * Finds out which transactions can no longer land. Expired is proven by three facts:
 *
 * 1. The finalized block height is past the last valid one, on as many nodes as must agree.
 * 2. Read from a state at least that old, they find the signature in no block, the whole history searched. A node that has
 *    seen it is outvoted only by two, while their memory of the message's life is certain to be complete.
 * 3. No node that has come as far still accepts the blockhash, unless outvoted by two; if answers are lost, as many as must
 *    agree say that it is over. This holds even if the last valid
 *    height was reported wrong.
 *
 * The result has every signature.
 *
 * @see agave send-transaction-service: a transaction is dropped once the root bank's height has passed its last valid height
 */
export async function proveExpiry(
  witnesses: Witnesses,
  cases: readonly ExpiryCase[],
): Promise<ReadonlyMap<string, ExpiryFinding>> {
  const { pool, endpoints } = witnesses;
  const settled = await Promise.allSettled(endpoints.map((endpoint) => observe(pool, endpoint, cases)));
  const observations = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const findings = new Map<string, ExpiryFinding>();
  const finished: { readonly one: ExpiryCase; readonly agreeing: readonly Observation[] }[] = [];
  cases.forEach((one, i) => {
    const agreeing = observations.filter(
      ({ finalizedHeight, statuses }) => finalizedHeight > one.lastValidBlockHeight && statuses[i] === null,
    );
    const seers = observations.filter(({ statuses }) => statuses[i] !== null);
    if (agreeing.length >= witnesses.quorum() && (seers.length === 0 || outvotes(agreeing, seers, one))) {
      finished.push({ one, agreeing });
      for (const { endpoint } of seers)
        witnesses.setAside(endpoint, "it reports a transaction that the finalized chain does not have");
      return;
    }
    const seen = seers[0] && { by: seers[0].endpoint, status: seers[0].statuses[i]! };
    const doubt = seen ? "a node still reports it in a block" : "fewer nodes than must agree find that it has expired";
    findings.set(one.signature, { isExpired: false, by: [], seen, doubt: agreeing.length > 0 ? doubt : undefined });
  });
  await Promise.all(
    finished.map(async ({ one, agreeing }) => {
      const isAccepted = await isStillAccepted(witnesses, one.blockhash, agreeing);
      const doubt = isAccepted ? "a node still accepts its blockhash, or gives no answer about that" : undefined;
      const by = agreeing.map(({ endpoint }) => endpoint);
      findings.set(one.signature, { isExpired: !isAccepted, by, doubt });
    }),
  );
  return findings;
}

function outvotes(agreeing: readonly Observation[], seers: readonly Observation[], one: ExpiryCase): boolean {
  const certain = agreeing.filter(
    ({ finalizedHeight }) => finalizedHeight <= one.lastValidBlockHeight + STATUS_CACHE_BLOCKS,
  );
  return certain.length >= 2 && certain.length > seers.length;
}

/**
 * True if a node that has come as far as those that agree still accepts the blockhash, unless two others outvote it; also while answers
 * are lost and fewer nodes than must agree say that it is over.
 */
async function isStillAccepted(
  witnesses: Witnesses,
  blockhash: string | undefined,
  agreeing: readonly Observation[],
): Promise<boolean> {
  if (blockhash === undefined) return false;
  const { pool, endpoints } = witnesses;
  const reached = agreeing.reduce(
    (least, { finalizedSlot }) => minOf(least, finalizedSlot),
    agreeing[0]!.finalizedSlot,
  );
  let [valid, invalid, lost] = [0, 0, 0];
  const ask = async (endpoint: RpcEndpoint): Promise<void> => {
    try {
      const answer = await pool.ask(endpoint, "isBlockhashValid", [blockhash, { commitment: "processed" }]);
      const { slot, value } = asContext(answer, "a blockhash's validity");
      if (slot < reached) return;
      if (typeof value !== "boolean") lost += 1;
      else if (value) valid += 1;
      else invalid += 1;
    } catch (error) {
      // A node that does not serve the method does not count; others may still say that the message lives.
      if (!isRefusal(error)) lost += 1;
    }
  };
  await Promise.all(endpoints.map(ask));
  if (lost > 0 && invalid < witnesses.quorum()) return true;
  return valid > 0 && !(invalid >= 2 && invalid > valid);
}

async function observe(pool: RpcPool, endpoint: RpcEndpoint, cases: readonly ExpiryCase[]): Promise<Observation> {
  const info = asRecord(await pool.ask(endpoint, "getEpochInfo", [{ commitment: "finalized" }]), "epoch info");
  const finalizedSlot = asInteger(info.absoluteSlot, "epoch info");
  const { slot, value } = asContext(
    await pool.ask(endpoint, "getSignatureStatuses", [
      cases.map(({ signature }) => signature),
      { searchTransactionHistory: true },
    ]),
    "signature statuses",
  );
  const statuses = asList(value, "signature statuses");
  return {
    endpoint,
    finalizedSlot,
    // A status read before that height proves nothing about it.
    finalizedHeight: slot >= finalizedSlot ? asInteger(info.blockHeight, "epoch info") : 0n,
    statuses: cases.map((_, i) => decodeStatus(statuses[i])),
  };
}
