import { hash } from "node:crypto";
import type { Address } from "../../../primitives/address.ts";
import { equalBytes } from "../../../primitives/bytes.ts";
import { verifySignature } from "../../../primitives/ed25519.ts";
import { compareIntegers, maxOf, minOf } from "../../../primitives/integer.ts";
import { SIGNATURE_SIZE, wireLayout } from "../../../solana/message.ts";
import { decodeHeight } from "../../head/head-answers.ts";
import type { MessageFinding, MessageQuery } from "../../port.ts";
import { isRefusal, isWithoutHistory, NodeError } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asInteger, asList, asRecord, asText } from "../../rpc/rpc-values.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import { HEIGHT_TOLERANCE, type LandingHead, LIFETIME_BLOCKS } from "../landing-head.ts";
import { heightLeftBehind, isBefore, outvotes, STATUS_CACHE_BLOCKS } from "./expiry.ts";
import type { HistoryMessages } from "./history-messages.ts";

const WHAT = "a wallet's history";
const TIMEOUT_MS = 3_000;
/** Signatures per call, the most that nodes give, and the most calls per node. */
const PAGE = 1_000;
const MAX_PAGES = 5;
/** Transactions of the wallet within the message's lifetime whose messages are compared. */
const MAX_COMPARED = 1_000;

/** A signature in a wallet's history. */
interface Entry {
  readonly signature: string;
  readonly slot: bigint;
}

/** What a search asks. */
interface SearchPorts {
  readonly witnesses: Witnesses;
  readonly head: LandingHead;
  readonly messages: HistoryMessages;
}

/** One node's answer: its finalized height, and its part of the history; undefined if it serves none. */
interface Answer {
  readonly blockHeight: bigint;
  readonly view: View | undefined;
}

/** One node's view of a wallet's finalized history. */
interface View {
  /** The transaction that has the message, under a signature that is not followed yet. */
  readonly found: Uint8Array | undefined;
  /** True if it shows a signature that is followed. */
  readonly showsFollowed: boolean;
  /**
   * True if it shows something from before the build, so that anything later that it does not show did not happen; false if the node may
   * have forgotten the message and lacks blocks that it could be in.
   */
  readonly reachesBack: boolean;
  /** True if the node has all blocks since the build; needed for a wallet without earlier transactions. */
  readonly hasBlocks: boolean;
}

/**
 * Looks for a message in its wallet's finalized history: the holder may have signed it again and sent it elsewhere. Every node that serves
 * the history is asked, and each transaction within the message's lifetime is compared with the message. Each node says for itself where
 * that lifetime lies and how long ago it ended, because the head may rest on another node's word. Call it once the message has expired.
 *
 * @throws TradewireError UPSTREAM_ERROR if too few nodes answer now, or one shows a followed signature and is not outvoted
 */
export async function searchMessage(ports: SearchPorts, query: MessageQuery): Promise<MessageFinding> {
  const { witnesses, head } = ports;
  const settled = await Promise.allSettled(witnesses.endpoints.map((endpoint) => askNode(ports, endpoint, query)));
  // They stopped before the message could land.
  const early = witnesses.endpoints.filter((_, i) => isEarly(settled[i]!));
  const quorum = witnesses.quorum(early);
  const answers = settled.flatMap((one) => (one.status === "fulfilled" && one.value !== "early" ? [one.value] : []));
  const views = answers.flatMap(({ view }) => view ?? []);
  const blocksSince = blocksSinceExpiry(answers, quorum, query);
  const age = {
    sinceMs: Number(blocksSince?.least ?? 0n) * head.slotMs(),
    isRemembered: blocksSince !== undefined && blocksSince.most <= STATUS_CACHE_BLOCKS,
  };
  const found = views.find((view) => view.found !== undefined)?.found;
  if (found !== undefined) return { kind: "found", transaction: found, ...age };
  if (blocksSince !== undefined && areDivided(blocksSince))
    throw new NodeError("malformed", "Two Solana nodes contradict each other about how long ago a message expired.");
  const serving = settled.filter(
    (one, i) => !isUnserved(one) && !isEarly(one) && !witnesses.isSilent(witnesses.endpoints[i]!),
  ).length;
  if (serving === 0) {
    if (blocksSince === undefined && !settled.every(isUnserved)) throw failureAmong(settled);
    return { kind: "unserved", ...age };
  }
  const required = Math.min(quorum, serving);
  if (views.length < required) throw failureAmong(settled);
  // A wallet's history may be pruned before blocks are, but not while the message is remembered.
  const whole = views.filter((view) => view.reachesBack || (view.hasBlocks && age.isRemembered));
  const showing = views.filter((view) => view.showsFollowed);
  const denying = age.isRemembered ? whole.length - whole.filter((view) => view.showsFollowed).length : 0;
  if (!outvotes(denying, showing.length))
    throw new NodeError("malformed", "A wallet's history shows a transaction of which nodes have no status.");
  const reachesBack = whole.length >= required;
  return { kind: "absent", reachesBack, witnesses: reachesBack ? whole.length : views.length, ...age };
}

/** Blocks since a message's last valid one. If two nodes must agree, the value of each; else one value twice. */
interface BlocksSince {
  readonly least: bigint;
  readonly most: bigint;
}

/** The number of blocks that the required number of nodes has not passed; undefined if none answers. */
function blocksSinceExpiry(
  answers: readonly Answer[],
  quorum: number,
  { lastValidBlockHeight }: MessageQuery,
): BlocksSince | undefined {
  const heights = answers.map(({ blockHeight }) => blockHeight).sort(compareIntegers);
  const most = heights[Math.min(quorum, heights.length) - 1];
  if (most === undefined) return undefined;
  const least = heights.length > quorum ? most : heights[0]!;
  return { least: least - lastValidBlockHeight, most: most - lastValidBlockHeight };
}

/** True if only one of two nodes says that the other no longer has to remember the message: the other will get there and say so too. */
function areDivided({ least, most }: BlocksSince): boolean {
  return least <= STATUS_CACHE_BLOCKS && most > STATUS_CACHE_BLOCKS && most - least > HEIGHT_TOLERANCE;
}

type Settled = PromiseSettledResult<Answer | "early">;

const isEarly = (one: Settled) => one.status === "fulfilled" && one.value === "early";

const isUnserved = (one: Settled) =>
  one.status === "fulfilled" ? one.value !== "early" && one.value.view === undefined : isWithoutHistory(one.reason);

function failureAmong(settled: readonly Settled[]): unknown {
  return settled.find((one) => one.status === "rejected")?.reason;
}

/** A node's answer; "early" if it stands still at a block before the message could land. */
async function askNode(ports: SearchPorts, endpoint: RpcEndpoint, query: MessageQuery): Promise<Answer | "early"> {
  const { pool } = ports.witnesses;
  const { buildSlot, lastValidBlockHeight } = query;
  const info = decodeHeight(await pool.ask(endpoint, "getEpochInfo", [{ commitment: "finalized" }], TIMEOUT_MS));
  if (info.height <= lastValidBlockHeight) {
    if (isBefore(await heightLeftBehind(ports.witnesses, endpoint), query)) return "early";
    throw new NodeError("malformed", `The Solana node ${endpoint.name} has not come as far as a message's last block.`);
  }
  const last = lastValidBlockHeight + info.slot - info.height;
  const range: SlotRange = {
    first: maxOf(0n, minOf(buildSlot, last - LIFETIME_BLOCKS) - HEIGHT_TOLERANCE),
    last: last + HEIGHT_TOLERANCE,
    finalizedSlot: info.slot,
  };
  try {
    const view = await viewOf(ports, endpoint, query, range);
    // No node starts again from a newer snapshot within the time for which statuses are remembered.
    const isRemembered = info.height <= lastValidBlockHeight + STATUS_CACHE_BLOCKS;
    if (isRemembered || !view.reachesBack || view.found !== undefined) return { blockHeight: info.height, view };
    const reachesBack = await hasEveryBlock(pool, endpoint, range, lastValidBlockHeight);
    return { blockHeight: info.height, view: { ...view, reachesBack } };
  } catch (error) {
    if (isWithoutHistory(error)) return { blockHeight: info.height, view: undefined };
    throw error;
  }
}

/** The slots that a message may be in, by one node's count, and the node's newest final slot. */
interface SlotRange {
  readonly first: bigint;
  readonly last: bigint;
  readonly finalizedSlot: bigint;
}

async function viewOf(ports: SearchPorts, endpoint: RpcEndpoint, query: MessageQuery, range: SlotRange): Promise<View> {
  const { wallet, buildSlot, known } = query;
  const { pool } = ports.witnesses;
  const { entries, isRead } = await readHistory(pool, endpoint, wallet, range);
  const compared = entries.filter(
    ({ signature, slot }) => slot >= range.first && slot <= range.last && !known.includes(signature),
  );
  const showsFollowed = entries.some(({ signature }) => known.includes(signature));
  // As one that is cut short: otherwise anybody could keep the trade pending, by transactions that name the wallet.
  if (!isRead || compared.length > MAX_COMPARED)
    return { found: undefined, showsFollowed, reachesBack: false, hasBlocks: false };
  const found = await findAmong(ports, endpoint, query, compared);
  const reachesBack = entries.some(({ slot }) => slot <= buildSlot);
  return {
    found,
    showsFollowed,
    reachesBack,
    hasBlocks: !reachesBack && (await hasBlocksFrom(buildSlot, pool, endpoint)),
  };
}

/** A part of a wallet's finalized history. */
interface History {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** False if there is more than is read, back to the first slot of the range. */
  readonly isRead: boolean;
}

/** A wallet's finalized history as a node shows it, back to the first slot of the range at least, unless it is too long. */
async function readHistory(
  pool: RpcPool,
  endpoint: RpcEndpoint,
  wallet: Address,
  { first, finalizedSlot }: SlotRange,
): Promise<History> {
  const entries: Entry[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const before = entries.at(-1)?.signature;
    const config = {
      commitment: "finalized",
      // One address may serve several machines: one that has not reached that slot lacks what landed last.
      minContextSlot: Number(finalizedSlot),
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    };
    const answer = await pool.ask(endpoint, "getSignaturesForAddress", [wallet.toString(), config], TIMEOUT_MS);
    const listed = asList(answer, WHAT);
    if (listed.length > PAGE)
      throw new NodeError(
        "malformed",
        `The Solana node ${endpoint.name} lists more transactions than it was asked for.`,
      );
    const rows = listed.map((row) => {
      const { signature, slot } = asRecord(row, WHAT);
      return { signature: asText(signature, WHAT), slot: asInteger(slot, WHAT) };
    });
    entries.push(...rows);
    // A node, or a proxy before it, may give fewer at a time than it was asked for.
    if (rows.length === 0 || rows.at(-1)!.slot < first) return { entries, isRead: true };
  }
  return { entries, isRead: false };
}

/** The transaction among these that has the message; undefined if none has. */
async function findAmong(
  { witnesses, messages }: SearchPorts,
  endpoint: RpcEndpoint,
  query: MessageQuery,
  compared: readonly Entry[],
): Promise<Uint8Array | undefined> {
  const signatures = compared.map(({ signature }) => signature);
  const hashes = await messages.hashesOf(endpoint, signatures);
  const at = hashes.findIndex((hash) => equalBytes(hash, query.messageHash));
  const found = at < 0 ? undefined : await messages.bytesOf(endpoint, signatures[at]!);
  if (found !== undefined && !isSigned(found, query)) {
    witnesses.setAside(endpoint, "it shows a transaction that the wallet has not signed");
    throw new NodeError("malformed", `The Solana node ${endpoint.name} has made up a transaction.`);
  }
  return found;
}

/**
 * False if the node shows that it lacks a final block that the message could be in: a node that starts again from a newer snapshot shows
 * what is older, and nothing of the time in between. True also if it does not serve blocks.
 *
 * @throws TradewireError UPSTREAM_ERROR
 */
async function hasEveryBlock(
  pool: RpcPool,
  endpoint: RpcEndpoint,
  range: Pick<SlotRange, "first" | "last">,
  lastValidBlockHeight: bigint,
): Promise<boolean> {
  const commitment = "finalized";
  const heightOf = async (slot: bigint) => {
    const config = { commitment, transactionDetails: "none", rewards: false, maxSupportedTransactionVersion: 1 };
    const block = asRecord(await pool.ask(endpoint, "getBlock", [Number(slot), config], TIMEOUT_MS), "a block");
    return asInteger(block.blockHeight, "a block");
  };
  try {
    const params = [Number(range.first), Number(range.last), { commitment }];
    const slots = asList(await pool.ask(endpoint, "getBlocks", params, TIMEOUT_MS), "slots of blocks");
    if (slots.length === 0) return false;
    const [first, last] = await Promise.all(
      [slots[0], slots.at(-1)].map((slot) => heightOf(asInteger(slot, "slots of blocks"))),
    );
    const isCovered = first! <= lastValidBlockHeight - LIFETIME_BLOCKS + 2n && last! >= lastValidBlockHeight;
    return isCovered && last! - first! === BigInt(slots.length - 1);
  } catch (error) {
    if (isRefusal(error)) return true;
    throw error;
  }
}

/** Also false if the node does not serve the method. @throws TradewireError UPSTREAM_ERROR */
async function hasBlocksFrom(slot: bigint, pool: RpcPool, endpoint: RpcEndpoint): Promise<boolean> {
  try {
    return asInteger(await pool.ask(endpoint, "getFirstAvailableBlock", [], TIMEOUT_MS), "the first block") <= slot;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** True if the wallet has signed the message in these bytes. */
function isSigned(transaction: Uint8Array, { wallet, messageHash }: MessageQuery): boolean {
  const { message, signatureAt } = wireLayout(transaction);
  if (!equalBytes(hash("sha256", message, "buffer"), messageHash)) return false;
  return verifySignature(wallet.bytes, message, transaction.subarray(signatureAt, signatureAt + SIGNATURE_SIZE));
}
