import type { RpcEndpoint } from "./rpc-endpoint.ts";
import { asContext, asInteger, asList, asRecord } from "./rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "./signature-status.ts";

/** A transaction that may have expired. */
export interface ExpiryCase {
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
}

export type ExpiryRuling = { readonly kind: "expired" } | { readonly kind: "seen"; readonly status: SignatureStatus };

/** What one endpoint testifies: its finalized height, and what it knew of each signature after that. */
interface Testimony {
  readonly finalizedHeight: bigint;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/** With several endpoints configured, one alone proves nothing. */
const WITNESSES = 2;

/**
 * Rules which transactions can never land any more. Expired is only what is proven: the finalized block height is past
 * the last valid one, and after that the signature is in no block, its whole history searched, at a state not older than
 * that height; by every endpoint that answers, and at least two where two are configured. Anything else gets no ruling yet.
 *
 * @see agave send-transaction-service: a transaction is dropped once the root bank's height has passed its last valid height
 */
export async function ruleOnExpiry(
  endpoints: readonly RpcEndpoint[],
  cases: readonly ExpiryCase[],
): Promise<ReadonlyMap<string, ExpiryRuling>> {
  const settled = await Promise.allSettled(endpoints.map((endpoint) => takeTestimony(endpoint, cases)));
  const testimonies = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const rulings = new Map<string, ExpiryRuling>();
  cases.forEach(({ signature, lastValidBlockHeight }, i) => {
    const seen = testimonies
      .map(({ statuses }) => statuses[i])
      .find((status) => status !== null && status !== undefined);
    if (seen !== undefined) {
      rulings.set(signature, { kind: "seen", status: seen });
      return;
    }
    const witnesses = testimonies.filter(({ finalizedHeight }) => finalizedHeight > lastValidBlockHeight).length;
    if (witnesses >= Math.min(WITNESSES, endpoints.length)) rulings.set(signature, { kind: "expired" });
  });
  return rulings;
}

async function takeTestimony(endpoint: RpcEndpoint, cases: readonly ExpiryCase[]): Promise<Testimony> {
  const info = asRecord(await endpoint.call("getEpochInfo", [{ commitment: "finalized" }]), "epoch info");
  const finalizedSlot = asInteger(info.absoluteSlot, "epoch info");
  const { slot, value } = asContext(
    await endpoint.call("getSignatureStatuses", [
      cases.map(({ signature }) => signature),
      { searchTransactionHistory: true },
    ]),
    "signature statuses",
  );
  const statuses = asList(value, "signature statuses");
  return {
    // A status read from a state before that height says nothing about it: such a testimony proves no height.
    finalizedHeight: slot >= finalizedSlot ? asInteger(info.blockHeight, "epoch info") : 0n,
    statuses: cases.map((_, i) => decodeStatus(statuses[i])),
  };
}
