import { maxOf } from "../../primitives/integer.ts";
import { isRefusal } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { asContext, asInteger, asList, asRecord } from "../rpc/rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "../rpc/signature-status.ts";

/** A transaction that may have expired. */
interface ExpiryCase {
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
  /** Base58; undefined if unknown. */
  readonly blockhash: string | undefined;
}

type ExpiryFinding = { readonly kind: "expired" } | { readonly kind: "seen"; readonly status: SignatureStatus };

/** Receives the methods that an endpoint does not serve. */
type OnRefusal = (endpoint: string, method: string) => void;

/** One endpoint's observation: its finalized height and, read after it, the status of each signature. */
interface Observation {
  readonly finalizedSlot: bigint;
  readonly finalizedHeight: bigint;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/** If several endpoints are configured, one observation proves nothing. */
const MIN_OBSERVATIONS = 2;

/**
 * Finds out which transactions can no longer land. Expired is proven by three facts:
 *
 * 1. The finalized block height is past the last valid one.
 * 2. Read from a state at least that old, the signature is in no block, the whole history searched. Every endpoint that
 *    answers agrees, and at least two of them if two are configured.
 * 3. No endpoint that has come as far still accepts the blockhash. This holds even if the last valid height was reported wrong.
 *
 * A signature missing from the result is undecided.
 *
 * @see agave send-transaction-service: a transaction is dropped once the root bank's height has passed its last valid height
 */
export async function proveExpiry(
  endpoints: readonly RpcEndpoint[],
  cases: readonly ExpiryCase[],
  onRefusal: OnRefusal = () => {},
): Promise<ReadonlyMap<string, ExpiryFinding>> {
  const settled = await Promise.allSettled(endpoints.map((endpoint) => observe(endpoint, cases, onRefusal)));
  const observations = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const findings = new Map<string, ExpiryFinding>();
  const finished: ExpiryCase[] = [];
  cases.forEach((one, i) => {
    const seen = observations
      .map(({ statuses }) => statuses[i])
      .find((status) => status !== null && status !== undefined);
    if (seen !== undefined) {
      findings.set(one.signature, { kind: "seen", status: seen });
      return;
    }
    const agreeing = observations.filter(({ finalizedHeight }) => finalizedHeight > one.lastValidBlockHeight).length;
    if (agreeing >= Math.min(MIN_OBSERVATIONS, endpoints.length)) finished.push(one);
  });
  const reached = observations.reduce((most, { finalizedSlot }) => maxOf(most, finalizedSlot), 0n);
  const blockhashes = new Set(finished.map(({ blockhash }) => blockhash));
  const live = await liveBlockhashes(endpoints, blockhashes, reached, onRefusal);
  for (const { signature, blockhash } of finished) {
    if (blockhash === undefined || !live.has(blockhash)) findings.set(signature, { kind: "expired" });
  }
  return findings;
}

/** The blockhashes that an endpoint at or past the slot still accepts. Endpoints that do not serve the method have no say. */
async function liveBlockhashes(
  endpoints: readonly RpcEndpoint[],
  blockhashes: ReadonlySet<string | undefined>,
  reached: bigint,
  onRefusal: OnRefusal,
): Promise<ReadonlySet<string>> {
  const live = new Set<string>();
  const ask = async (endpoint: RpcEndpoint, blockhash: string): Promise<void> => {
    try {
      const answer = await call(endpoint, "isBlockhashValid", [blockhash, { commitment: "processed" }], onRefusal);
      const { slot, value } = asContext(answer, "a blockhash's validity");
      if (value === true && slot >= reached) live.add(blockhash);
    } catch {
      // Other endpoints may answer, and the finalized height is proven already.
    }
  };
  await Promise.all(
    endpoints.flatMap((endpoint) =>
      [...blockhashes].map((blockhash) => (blockhash === undefined ? undefined : ask(endpoint, blockhash))),
    ),
  );
  return live;
}

/** A call that reports refusals. */
async function call(endpoint: RpcEndpoint, method: string, params: readonly unknown[], onRefusal: OnRefusal) {
  try {
    return await endpoint.call(method, params);
  } catch (error) {
    if (isRefusal(error)) onRefusal(endpoint.name, method);
    throw error;
  }
}

async function observe(
  endpoint: RpcEndpoint,
  cases: readonly ExpiryCase[],
  onRefusal: OnRefusal,
): Promise<Observation> {
  const info = asRecord(await call(endpoint, "getEpochInfo", [{ commitment: "finalized" }], onRefusal), "epoch info");
  const finalizedSlot = asInteger(info.absoluteSlot, "epoch info");
  const { slot, value } = asContext(
    await call(
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
    // A status read before that height proves nothing about it.
    finalizedHeight: slot >= finalizedSlot ? asInteger(info.blockHeight, "epoch info") : 0n,
    statuses: cases.map((_, i) => decodeStatus(statuses[i])),
  };
}
