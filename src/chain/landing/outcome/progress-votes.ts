import type { TransactionProgress } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { SignatureStatus } from "../../rpc/signature-status.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";

/** Nodes asked at first: as many as must agree. */
const ASKED_FIRST = 2;
const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;

interface Vote {
  readonly endpoint: RpcEndpoint;
  readonly status: SignatureStatus | null;
}

/**
 * Asks the nodes for a transaction's progress: the furthest that the required number of nodes have seen it in one slot, else "processed" if
 * any node has seen it. Undefined if it is in no block.
 *
 * @param look reads one node's status of it
 * @param isAccepted false for an impossible status, which counts as none
 * @throws TradewireError UPSTREAM_ERROR if no node answers
 */
export async function fetchProgress(
  witnesses: Witnesses,
  look: (endpoint: RpcEndpoint) => Promise<SignatureStatus | null>,
  isAccepted: (status: SignatureStatus) => boolean,
): Promise<TransactionProgress | undefined> {
  const { endpoints } = witnesses;
  const asked = endpoints.toSorted((a, b) => Number(a.isCooling()) - Number(b.isCooling()));
  const votes: Vote[] = [];
  const failures: unknown[] = [];
  const ask = async (endpoint: RpcEndpoint) => {
    try {
      const status = await look(endpoint);
      votes.push({ endpoint, status: status !== null && isAccepted(status) ? status : null });
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(asked.slice(0, ASKED_FIRST).map(ask));
  if (agreed(witnesses, votes) === undefined) await Promise.all(asked.slice(ASKED_FIRST).map(ask));
  if (votes.length === 0) throw failures[0];
  const seen = votes.find(({ status }) => status !== null)?.status;
  if (seen === null || seen === undefined) return undefined;
  return agreed(witnesses, votes) ?? { slot: seen.slot, commitment: "processed", error: null };
}

/** What the required number of nodes have seen, and more than have seen anything else; or the trusted node's view. */
function agreed(witnesses: Witnesses, votes: readonly Vote[]): TransactionProgress | undefined {
  const seen = votes.flatMap(({ endpoint, status }) => (status === null ? [] : [{ endpoint, status }]));
  const groups = [...Map.groupBy(seen, ({ status: { slot, error } }) => `${slot} ${JSON.stringify(error)}`).values()];
  const [best, second] = groups.sort((a, b) => b.length - a.length);
  const quorum = witnesses.quorum();
  if (best !== undefined && best.length >= quorum && best.length > (second?.length ?? 0)) {
    const ranks = best.map(({ status }) => COMMITMENTS.indexOf(status.commitment)).sort((a, b) => b - a);
    const { slot, error } = best[0]!.status;
    return { slot, error, commitment: COMMITMENTS[ranks[quorum - 1]!]! };
  }
  return seen.find(({ endpoint }) => endpoint === witnesses.trusted)?.status;
}
