import bs58 from "bs58";
import { equalBytes } from "../../../primitives/bytes.ts";
import type { Lifetime } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asContext } from "../../rpc/rpc-values.ts";
import { decodeRecentBlockhashes, type RecentBlockhashes, recentBlockhashesParams } from "../head-answers.ts";
import { MAX_LAG_SLOTS } from "../newest-slot.ts";

/**
 * A node's answer about a blockhash that another node names as that of a slot. known: it is among its newest; valid: it is good, but the
 * node keeps no list that shows its age; unknown: it has come to that slot without it; older: it is of a slot long before the one named;
 * behind: it has not come to the slot; far behind: by more slots than a healthy node is; far ahead: the other one is so far behind it;
 * nothing: no usable answer.
 */
export type BlockhashWord = "known" | "valid" | "unknown" | "older" | "behind" | "far behind" | "far ahead" | "nothing";

/** New blockhashes are needed several times a second: a node that takes longer than this cannot confirm this one. Milliseconds. */
const TIMEOUT_MS = 1_000;
/** Entries of the list read at first, and its full length. */
const LISTED = 32;
const ALL_LISTED = 150;
/** Blocks that may follow the blockhash: ten because a node may lag, two until one is confirmed, and those produced during two calls. */
const MAX_BLOCKS_SINCE = 16;
/**
 * Slots by which a node may read a later list than that of the slot it names, and an earlier one.
 * @see https://github.com/anza-xyz/agave/issues/4807
 */
const READ_LATER_SLOTS = 2n;
const READ_EARLIER_SLOTS = 1n;

interface BlockhashQuestion {
  readonly pool: Pick<RpcPool, "ask">;
  readonly endpoint: RpcEndpoint;
  /** The blockhash as another node names it. */
  readonly named: Lifetime;
  /** True for a slot so far from the head that its node proves nothing about a new blockhash. */
  readonly isOff: (slot: bigint) => boolean;
  /** False until two nodes have agreed: until then it is unknown which of them is off. */
  readonly isHeadSure: boolean;
  /** Receives the list of its newest blockhashes, if it keeps one. */
  readonly onList?: (list: RecentBlockhashes) => void;
}

/**
 * Asks a node about a blockhash that another node names: its position in the list of recent ones is its age. A second call is made only if
 * it is not among the newest, or the node keeps no list. Never rejects.
 */
export async function askBlockhashWord(question: BlockhashQuestion): Promise<BlockhashWord> {
  const newest = await askList(question, LISTED);
  if (newest === undefined) return askValidity(question);
  question.onList?.(newest);
  const word = wordOf(newest, question);
  if (word !== "unknown") return word;
  const all = await askList(question, ALL_LISTED);
  return all === undefined ? "nothing" : wordOf(all, question);
}

function wordOf(
  { readAt, blockhashes }: RecentBlockhashes,
  { named, isOff, isHeadSure }: BlockhashQuestion,
): BlockhashWord {
  const isAhead = readAt > named.slot + BigInt(MAX_BLOCKS_SINCE);
  if (isOff(readAt)) return isAhead && !isHeadSure ? "far ahead" : "nothing";
  const behind = behindOf(readAt, named.slot);
  if (behind !== undefined) return behind;
  const slotsSince = readAt - named.slot;
  const blocksSince = blockhashes.findIndex((blockhash) => equalBytes(blockhash, named.blockhash));
  if (blocksSince < 0) {
    if (slotsSince > ALL_LISTED) return "far ahead";
    return slotsSince <= READ_EARLIER_SLOTS ? "behind" : "unknown";
  }
  if (BigInt(blocksSince) > slotsSince + READ_LATER_SLOTS) return "older";
  return blocksSince > MAX_BLOCKS_SINCE ? "far ahead" : "known";
}

/** Undefined if the node does not answer, or keeps no list. Never rejects. */
function askList({ pool, endpoint }: BlockhashQuestion, count: number): Promise<RecentBlockhashes | undefined> {
  const answer = pool.ask(endpoint, "getMultipleAccounts", recentBlockhashesParams(count), TIMEOUT_MS);
  return answer.then(decodeRecentBlockhashes).catch(() => undefined);
}

/** The answer of a node without a list. Never rejects. */
async function askValidity({ pool, endpoint, named, isOff }: BlockhashQuestion): Promise<BlockhashWord> {
  try {
    const params = [bs58.encode(named.blockhash), { commitment: "processed" }];
    const answer = await pool.ask(endpoint, "isBlockhashValid", params, TIMEOUT_MS);
    const { slot: readAt, value } = asContext(answer, "a blockhash's validity");
    if (typeof value !== "boolean" || isOff(readAt)) return "nothing";
    return behindOf(readAt, named.slot) ?? (value ? "valid" : "unknown");
  } catch {
    return "nothing";
  }
}

/** A node that already knows the blockhash before that slot knows an older one. */
function behindOf(readAt: bigint, slot: bigint): "behind" | "far behind" | undefined {
  if (readAt >= slot) return undefined;
  return readAt + MAX_LAG_SLOTS < slot ? "far behind" : "behind";
}
