import { maxOf } from "../../primitives/integer.ts";
import { isRefusal } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { asContext, asInteger, asList, asRecord } from "../rpc/rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "../rpc/signature-status.ts";

/** A transaction that may have expired. */
interface ExpiryCase {
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
  /** Base58; undefined where it is not known. */
  readonly blockhash: string | undefined;
}

type ExpiryRuling = { readonly kind: "expired" } | { readonly kind: "seen"; readonly status: SignatureStatus };

/** Hears that an endpoint does not serve a question. */
type OnRefusal = (endpoint: string, method: string) => void;

/** What one endpoint testifies: its finalized height, and what it knew of each signature after that. */
interface Testimony {
  readonly finalizedSlot: bigint;
  readonly finalizedHeight: bigint;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/** With several endpoints configured, one alone proves nothing. */
const WITNESSES = 2;

/**
 * Rules which transactions can never land any more. Expired is only what is proven: the finalized block height is past
 * the last valid one, and after that the signature is in no block, its whole history searched, at a state not older than
 * that height; by every endpoint that answers, and at least two where two are configured; and no endpoint that has come so far
 * takes the blockhash any more, which holds even where the last valid height was told wrong. Anything else gets no ruling yet.
 * `onRefusal` hears of endpoints that do not serve a question.
 *
 * @see agave send-transaction-service: a transaction is dropped once the root bank's height has passed its last valid height
 */
export async function ruleOnExpiry(
  endpoints: readonly RpcEndpoint[],
  cases: readonly ExpiryCase[],
  onRefusal: OnRefusal = () => {},
): Promise<ReadonlyMap<string, ExpiryRuling>> {
  const settled = await Promise.allSettled(endpoints.map((endpoint) => takeTestimony(endpoint, cases, onRefusal)));
  const testimonies = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const rulings = new Map<string, ExpiryRuling>();
  const finished: ExpiryCase[] = [];
  cases.forEach((one, i) => {
    const seen = testimonies
      .map(({ statuses }) => statuses[i])
      .find((status) => status !== null && status !== undefined);
    if (seen !== undefined) {
      rulings.set(one.signature, { kind: "seen", status: seen });
      return;
    }
    const witnesses = testimonies.filter(({ finalizedHeight }) => finalizedHeight > one.lastValidBlockHeight).length;
    if (witnesses >= Math.min(WITNESSES, endpoints.length)) finished.push(one);
  });
  const reached = testimonies.reduce((most, { finalizedSlot }) => maxOf(most, finalizedSlot), 0n);
  const blockhashes = new Set(finished.map(({ blockhash }) => blockhash));
  const live = await liveBlockhashes(endpoints, blockhashes, reached, onRefusal);
  for (const { signature, blockhash } of finished) {
    if (blockhash === undefined || !live.has(blockhash)) rulings.set(signature, { kind: "expired" });
  }
  return rulings;
}

/** Those that an endpoint which has reached the slot still takes. One that does not serve the question has no say. */
async function liveBlockhashes(
  endpoints: readonly RpcEndpoint[],
  blockhashes: ReadonlySet<string | undefined>,
  reached: bigint,
  onRefusal: OnRefusal,
): Promise<ReadonlySet<string>> {
  const live = new Set<string>();
  const ask = async (endpoint: RpcEndpoint, blockhash: string): Promise<void> => {
    try {
      const answer = await put(endpoint, "isBlockhashValid", [blockhash, { commitment: "processed" }], onRefusal);
      const { slot, value } = asContext(answer, "a blockhash's validity");
      if (value === true && slot >= reached) live.add(blockhash);
    } catch {
      // Others may answer; and the finalized height has been proven already.
    }
  };
  await Promise.all(
    endpoints.flatMap((endpoint) =>
      [...blockhashes].map((blockhash) => (blockhash === undefined ? undefined : ask(endpoint, blockhash))),
    ),
  );
  return live;
}

/** A call that tells of a refusal. */
async function put(endpoint: RpcEndpoint, method: string, params: readonly unknown[], onRefusal: OnRefusal) {
  try {
    return await endpoint.call(method, params);
  } catch (error) {
    if (isRefusal(error)) onRefusal(endpoint.name, method);
    throw error;
  }
}

async function takeTestimony(
  endpoint: RpcEndpoint,
  cases: readonly ExpiryCase[],
  onRefusal: OnRefusal,
): Promise<Testimony> {
  const info = asRecord(await put(endpoint, "getEpochInfo", [{ commitment: "finalized" }], onRefusal), "epoch info");
  const finalizedSlot = asInteger(info.absoluteSlot, "epoch info");
  const { slot, value } = asContext(
    await put(
      endpoint,
      "getSignatureStatuses",
      [cases.map(({ signature }) => signature), { searchTransactionHistory: true }],
      onRefusal,
    ),
    "signature statuses",
  );
  const statuses = asList(value, "signature statuses");
  return {
    finalizedSlot,
    // A status read from a state before that height says nothing about it: such a testimony proves no height.
    finalizedHeight: slot >= finalizedSlot ? asInteger(info.blockHeight, "epoch info") : 0n,
    statuses: cases.map((_, i) => decodeStatus(statuses[i])),
  };
}
