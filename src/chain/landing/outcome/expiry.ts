import { minOf } from "../../../primitives/integer.ts";
import { decodeHeight } from "../../head/head-answers.ts";
import { isRefusal, isWithoutHistory } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asContext, asInteger, asRecord } from "../../rpc/rpc-values.ts";
import { asStatuses, decodeStatus, type SignatureStatus } from "../../rpc/signature-status.ts";
import { fetchRecord } from "../../rpc/transaction-reader.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import { LIFETIME_BLOCKS } from "../landing-head.ts";

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
  /** How many of them are certain to remember every status of its life. */
  readonly certain: number;
  /** True if a node has its record, though no status of it. */
  readonly isRecorded: boolean;
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
 * 2. Read from a state at least that old, they find the signature in no block, the whole history searched, and have no record of it: some
 *    nodes look for statuses in their memory alone. A node that has seen it is outvoted only by two, while their memory of the message's
 *    life is certain to be complete.
 * 3. No node that has come as far still accepts the blockhash, unless outvoted by two; if answers are lost, as many as must
 *    agree say that it is over. This holds even if the last valid
 *    height was reported wrong.
 *
 * A node that stands still at an earlier block than the blockhash's, and does not know it, is not among those that must agree.
 *
 * The result has every signature.
 *
 * @see agave send-transaction-service: a transaction is dropped once the root bank's height has passed its last valid height
 */
export async function proveExpiry(
  witnesses: Witnesses,
  cases: readonly ExpiryCase[],
): Promise<ReadonlyMap<string, ExpiryFinding>> {
  const { endpoints } = witnesses;
  const settled = await Promise.allSettled(endpoints.map((endpoint) => observe(witnesses, endpoint, cases)));
  const observations = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const behind = await Promise.all(observations.map(({ endpoint }) => heightLeftBehind(witnesses, endpoint)));
  const validitiesOf = readsOfValidity(witnesses);
  const findings = new Map<string, ExpiryFinding>();
  await Promise.all(
    cases.map(async (one, i) => {
      const agreeing = observations.filter(
        ({ finalizedHeight, statuses }) => finalizedHeight > one.lastValidBlockHeight && statuses[i] === null,
      );
      const seers = observations.filter(({ statuses }) => statuses[i] !== null);
      const early = observations.filter((_, at) => isBefore(behind[at], one)).map(({ endpoint }) => endpoint);
      findings.set(one.signature, await judge(witnesses, one, { agreeing, seers, early, i, validitiesOf }));
    }),
  );
  return findings;
}

/**
 * The observations that say that a transaction has expired, and those that have seen it; `i` is its place in them. And the nodes that
 * stopped before its message could land.
 */
interface Votes {
  readonly agreeing: readonly Observation[];
  readonly seers: readonly Observation[];
  readonly early: readonly RpcEndpoint[];
  readonly i: number;
  readonly validitiesOf: ReturnType<typeof readsOfValidity>;
}

async function judge(
  witnesses: Witnesses,
  one: ExpiryCase,
  { agreeing, seers, early, i, validitiesOf }: Votes,
): Promise<ExpiryFinding> {
  const seen = seers[0] && { by: seers[0].endpoint, status: seers[0].statuses[i]! };
  const undecided = (doubt: string | undefined, isRecorded = false) =>
    ({ isExpired: false, by: [], certain: 0, isRecorded, seen, doubt }) satisfies ExpiryFinding;
  const fewer = "fewer nodes than must agree find that it has expired";
  const quorum = witnesses.quorum(early);
  if (!isEnough(quorum, agreeing, seers, one))
    return undecided(agreeing.length === 0 ? undefined : seen ? "a node still reports it in a block" : fewer);
  const [isAccepted, answers] = await Promise.all([
    isStillAccepted(witnesses, one.blockhash, { agreeing, early, validitiesOf }),
    Promise.all(agreeing.map(({ endpoint }) => hasRecord(witnesses.pool, endpoint, one.signature))),
  ]);
  const lacking = agreeing.filter((_, at) => answers[at] === false);
  const holding = [...seers, ...agreeing.filter((_, at) => answers[at] === true)];
  const isRecorded = holding.length > seers.length;
  if (!isEnough(quorum, lacking, holding, one))
    return undecided(isRecorded ? "a node that reports it in no block has its record" : fewer, isRecorded);
  for (const { endpoint } of holding)
    witnesses.setAside(endpoint, "it reports a transaction that the finalized chain does not have");
  const by = lacking.map(({ endpoint }) => endpoint);
  const certain = lacking.filter((observation) => isCertain(observation, one)).length;
  const doubt = isAccepted ? "a node still accepts its blockhash, or gives no answer about that" : undefined;
  return { isExpired: !isAccepted, by, certain, isRecorded, doubt };
}

/** True if as many nodes as must agree find a transaction expired, and outvote those that have seen it. */
function isEnough(
  quorum: number,
  agreeing: readonly Observation[],
  seers: readonly Observation[],
  one: ExpiryCase,
): boolean {
  if (agreeing.length < quorum) return false;
  return outvotes(agreeing.filter((observation) => isCertain(observation, one)).length, seers.length);
}

/** True if the node is certain to remember every status of the message's life. */
function isCertain({ finalizedHeight }: Observation, { lastValidBlockHeight }: ExpiryCase): boolean {
  return finalizedHeight <= lastValidBlockHeight + STATUS_CACHE_BLOCKS;
}

/**
 * True if nodes that find a transaction expired outvote those that have seen it, if any has.
 *
 * @param certain how many of the former are certain to remember every status of its life
 */
export function outvotes(certain: number, seers: number): boolean {
  return seers === 0 || (certain >= 2 && certain > seers);
}

/** Whether the node has the record of a transaction; false also if it keeps none. Undefined if it gives no usable answer. */
async function hasRecord(pool: RpcPool, endpoint: RpcEndpoint, signature: string): Promise<boolean | undefined> {
  try {
    return (await fetchRecord(pool, endpoint, signature)) !== null;
  } catch (error) {
    return isWithoutHistory(error) ? false : undefined;
  }
}

/**
 * The block height at which a node that is left behind stands still; undefined for any other.
 *
 * A message whose blockhash comes after that block cannot have landed before it, and if the whole chain stopped there, nobody could have
 * known the blockhash of a block to come: such a node has no say about it.
 */
export async function heightLeftBehind(witnesses: Witnesses, endpoint: RpcEndpoint): Promise<bigint | undefined> {
  if (!witnesses.isLeftBehind(endpoint)) return undefined;
  try {
    return decodeHeight(await witnesses.pool.ask(endpoint, "getEpochInfo", [{ commitment: "processed" }])).height;
  } catch {
    return undefined;
  }
}

/** True for a height before the block of the message's blockhash; false if undefined. */
export function isBefore(
  height: bigint | undefined,
  { lastValidBlockHeight }: Pick<ExpiryCase, "lastValidBlockHeight">,
): boolean {
  return height !== undefined && height < lastValidBlockHeight - LIFETIME_BLOCKS;
}

/** Whether a node still accepts a blockhash, in the state of a slot; "lost" without an answer. */
type Validity = { readonly slot: bigint; readonly value: unknown } | "refused" | "lost";

/** Asks every node whether it still accepts a blockhash: once, however many messages have it. */
function readsOfValidity({ pool, endpoints }: Witnesses): (blockhash: string) => Promise<readonly Validity[]> {
  const asked = new Map<string, Promise<readonly Validity[]>>();
  const ask = async (endpoint: RpcEndpoint, blockhash: string): Promise<Validity> => {
    try {
      const answer = await pool.ask(endpoint, "isBlockhashValid", [blockhash, { commitment: "processed" }]);
      return asContext(answer, "a blockhash's validity");
    } catch (error) {
      return isRefusal(error) ? "refused" : "lost";
    }
  };
  return (blockhash) => {
    const validities = asked.get(blockhash) ?? Promise.all(endpoints.map((endpoint) => ask(endpoint, blockhash)));
    asked.set(blockhash, validities);
    return validities;
  };
}

/**
 * True if a node that has come as far as those that agree still accepts the blockhash, unless two others outvote it; also while answers
 * are lost and fewer nodes than must agree say that it is over, and if a node that is said to have stopped before it may know it.
 */
async function isStillAccepted(
  witnesses: Witnesses,
  blockhash: string | undefined,
  { agreeing, early, validitiesOf }: Pick<Votes, "agreeing" | "early" | "validitiesOf">,
): Promise<boolean> {
  if (blockhash === undefined) return early.length > 0;
  const { endpoints } = witnesses;
  const reached = agreeing.reduce(
    (least, { finalizedSlot }) => minOf(least, finalizedSlot),
    agreeing[0]!.finalizedSlot,
  );
  let [valid, invalid, lost] = [0, 0, 0];
  const unaware = new Set<RpcEndpoint>();
  for (const [i, validity] of (await validitiesOf(blockhash)).entries()) {
    // A node that does not serve the method does not count; others may still say that the message lives.
    if (validity === "refused") continue;
    if (validity === "lost") {
      lost += 1;
      continue;
    }
    const { slot, value } = validity;
    if (value === false) unaware.add(endpoints[i]!);
    if (slot < reached) continue;
    if (typeof value !== "boolean") lost += 1;
    else if (value) valid += 1;
    else invalid += 1;
  }
  if (early.some((endpoint) => !unaware.has(endpoint))) return true;
  if (lost > 0 && invalid < witnesses.quorum(early)) return true;
  return valid > 0 && !(invalid >= 2 && invalid > valid);
}

async function observe(
  witnesses: Witnesses,
  endpoint: RpcEndpoint,
  cases: readonly ExpiryCase[],
): Promise<Observation> {
  const { pool } = witnesses;
  const info = asRecord(await pool.ask(endpoint, "getEpochInfo", [{ commitment: "finalized" }]), "epoch info");
  const finalizedSlot = asInteger(info.absoluteSlot, "epoch info");
  const signatures = cases.map(({ signature }) => signature);
  const answer = await pool.ask(endpoint, "getSignatureStatuses", [signatures, { searchTransactionHistory: true }]);
  const { slot, entries } = asStatuses(answer, cases.length);
  witnesses.noteSlot(endpoint, slot);
  return {
    endpoint,
    finalizedSlot,
    // A status read before that height proves nothing about it.
    finalizedHeight: slot >= finalizedSlot ? asInteger(info.blockHeight, "epoch info") : 0n,
    statuses: entries.map(decodeStatus),
  };
}
