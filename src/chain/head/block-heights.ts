import { compareIntegers, medianBy } from "../../primitives/integer.ts";
import type { Lifetime } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { decodeHeight, decodeLifetime, type SlotHeight } from "./head-answers.ts";

interface BlockHeightsOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
  readonly warn: (message: string) => void;
}

/** Slots without a block up to a slot. */
interface Skipped {
  readonly slot: bigint;
  readonly count: bigint;
}

/** What one node says. */
interface Word<T> {
  readonly endpoint: RpcEndpoint;
  readonly value: T;
}

/** Bounds of the number of blocks a new blockhash is valid for, as a chain may set it. 150 so far. @see agave MAX_PROCESSING_AGE */
const LEAST_BLOCKHASH_BLOCKS = 16n;
const MOST_BLOCKHASH_BLOCKS = 1_500n;
const NETWORK_BLOCKHASH_BLOCKS = 150n;
/** Slots that may have been skipped since the count was read, never more than have passed; after many slots, one in `SKIPPED_PART`. */
const MAX_SKIPPED = 40n;
const SKIPPED_PART = 8n;
/** Tolerated difference between counts of nodes on different forks. */
const FORK_SLOTS = 8n;
const CONFIRMED = { commitment: "confirmed" };
const PROCESSED = { commitment: "processed" };

/**
 * Block heights by slot, and with them the last valid heights of blockhashes, as most nodes report them: with a last valid height that is
 * too low, a trade that may still land would count as expired. A blockhash alone does not move the heights, nor does a node without
 * confirmation move the reference for other nodes: otherwise a liar could shift heights step by step until an honest node's word is
 * refused. The trusted node decides; of two that differ, the one that has skipped fewer slots counts, because its trades expire later.
 */
export class BlockHeights {
  readonly #pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly #trusted: RpcEndpoint | undefined;
  #skipped: Skipped = { slot: 0n, count: 0n };
  /** The last confirmed count: the reference for what nodes say. With one node, its last count. */
  #agreed = this.#skipped;
  /**
   * True if only one of several nodes answered last: it is then also checked against its own earlier word, however long the others are
   * away.
   */
  #isAlone = false;
  /** True if two nodes contradicted each other at the start: it is unknown which of them is wrong. */
  #isContested = false;
  readonly #warn: (message: string) => void;
  /** Blocks a new blockhash is valid for, as found at the start or since then, if all of several nodes named others; 0 before. */
  #blockhashBlocks = 0n;

  constructor({ pool, trusted, warn }: BlockHeightsOptions) {
    this.#warn = warn;
    this.#pool = pool;
    this.#trusted = trusted;
  }

  /** The height of the slot's block, or of the block being produced. */
  at(slot: bigint): bigint {
    return slot - this.#skipped.count;
  }

  /** True if the blockhash's last valid height is possible on the chain. */
  fits({ lastValidBlockHeight, slot }: Lifetime): boolean {
    return this.#canBe({ slot, count: slot + this.#blockhashBlocks - lastValidBlockHeight });
  }

  /**
   * Finds the heights from all nodes together, regardless of what was known. @returns the slot of their blockhashes, the median
   *
   * @param lagging nodes that count only if no other answers; never rejects
   * @throws TradewireError UPSTREAM_ERROR if no node answers consistently
   */
  async locate(lagging: Promise<ReadonlySet<RpcEndpoint>> = Promise.resolve(new Set())): Promise<bigint> {
    const said = await this.#askEach((endpoint) => this.#fetchConsistent(endpoint));
    const laggards = await lagging;
    const inTime = said.filter(({ endpoint }) => !laggards.has(endpoint));
    const words = this.#agreeingOnBlocks(inTime.length > 0 ? inTime : said);
    this.#agreed = this.#skipped = this.#most(words, ({ skipped }) => skipped.count).skipped;
    this.#noteContested(words);
    return medianBy(words, ({ value }) => value.blockhashSlot).value.blockhashSlot;
  }

  /**
   * Counts skipped slots again. A node that contradicts the result is doubted.
   *
   * @param isOff true for a slot so far from the head that its node does not count
   * @returns the slot of the count
   * @throws TradewireError UPSTREAM_ERROR if no node answers, or those that do contradict the chain
   */
  async refresh(isOff: (slot: bigint) => boolean): Promise<bigint> {
    const said = await this.#askEach(async (endpoint) => {
      const answer = decodeHeight(await this.#pool.ask(endpoint, "getEpochInfo", [PROCESSED]));
      return { slot: answer.slot, count: skippedOf(answer) };
    });
    const words = said.filter(({ value }) => !isOff(value.slot) && value.count >= 0n);
    const decides = (word: Word<Skipped>) =>
      words.length > 2 || word.endpoint === this.#trusted || this.#canBe(word.value);
    const counted = words.filter(decides);
    if (counted.length > 0) this.#skipped = this.#most(counted, ({ count }) => count);
    if (this.#isBorneOut(counted, words.length)) this.#agreed = this.#skipped;
    this.#isAlone = words.length === 1;
    if (this.#isContested && counted.length === 2) this.#isContested = false;
    for (const { endpoint, value } of this.#isContested ? [] : said)
      if (!counted.some((word) => word.endpoint === endpoint) || !this.#canBe(value)) endpoint.doubt();
    if (counted.length === 0)
      throw new NodeError("malformed", "The Solana nodes answered getEpochInfo with what contradicts the chain.");
    return this.#skipped.slot;
  }

  /**
   * The nodes that agree about how many blocks a new blockhash is valid for. If none agrees with what is known, it is found anew: what was
   * known came from a node that was wrong. One node alone cannot bring that about.
   *
   * @throws TradewireError UPSTREAM_ERROR if none agrees
   */
  #agreeingOnBlocks<T extends { readonly blocks: bigint }>(words: readonly Word<T>[]): readonly Word<T>[] {
    const isKnown = ({ value }: Word<T>) => distance(value.blocks, this.#blockhashBlocks) <= MAX_SKIPPED;
    const isFirst = this.#blockhashBlocks === 0n;
    const agreeing = isFirst ? [] : words.filter(isKnown);
    if (agreeing.length > 0) return agreeing;
    if (!isFirst && words.length === 1)
      throw new NodeError(
        "malformed",
        `The Solana node ${words[0]!.endpoint.name} names another life of blockhashes than before.`,
      );
    this.#blockhashBlocks = this.#blocksBy(words);
    return words.filter(isKnown);
  }

  /** The trusted node's, else the median; of two in the middle the one nearer to the network's. */
  #blocksBy(words: readonly Word<{ readonly blocks: bigint }>[]): bigint {
    const trusted = words.find(({ endpoint }) => endpoint === this.#trusted);
    if (trusted !== undefined) return trusted.value.blocks;
    const sorted = words.map(({ value }) => value.blocks).sort(compareIntegers);
    const [one, other] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
    return distance(one, NETWORK_BLOCKHASH_BLOCKS) <= distance(other, NETWORK_BLOCKHASH_BLOCKS) ? one : other;
  }

  /** Logs which two nodes differ by more than the chain can have skipped between their answers, if no third or trusted node decides. */
  #noteContested(words: readonly Word<{ readonly skipped: Skipped }>[]): void {
    const [a, b] = words.map(({ value }) => value.skipped);
    const wasContested = this.#isContested;
    const isUndecided = words.length === 2 && words.every(({ endpoint }) => endpoint !== this.#trusted);
    this.#isContested = isUndecided && !canFollow(a!, b!) && !canFollow(b!, a!);
    if (!this.#isContested || wasContested) return;
    const said = words.map(({ endpoint, value: { skipped } }) => `${endpoint.name} ${skipped.slot - skipped.count}`);
    this.#warn(
      `The Solana nodes contradict each other about the block height (${said.join(", ")}): the higher counts, and trades that ` +
        "do not land may stay pending.",
    );
  }

  #canBe(skipped: Skipped): boolean {
    return canFollow(skipped, this.#agreed) || (this.#isAlone && canFollow(skipped, this.#skipped));
  }

  /**
   * True if the adopted count is the trusted node's, the median of three or more, the only possible one of several, or one that another
   * node agrees with.
   *
   * @param said how many nodes have answered
   */
  #isBorneOut(counted: readonly Word<Skipped>[], said: number): boolean {
    if (counted.length > 2 || counted.some((word) => word.endpoint === this.#trusted)) return true;
    const [one, other] = counted;
    if (one === undefined) return false;
    if (other === undefined) return said > 1 || this.#pool.endpoints.length === 1;
    const difference = one.value.count - other.value.count;
    return difference <= FORK_SLOTS && difference >= -FORK_SLOTS;
  }

  /** The trusted node's, else the median. */
  #most<T>(words: readonly Word<T>[], by: (value: T) => bigint): T {
    const trusted = words.find(({ endpoint }) => endpoint === this.#trusted);
    return (trusted ?? medianBy(words, ({ value }) => by(value))).value;
  }

  /** The counts of all nodes that answer. @throws the error of one if none does */
  async #askEach<T>(ask: (endpoint: RpcEndpoint) => Promise<T>): Promise<readonly Word<T>[]> {
    const { endpoints } = this.#pool;
    const settled = await Promise.allSettled(endpoints.map(ask));
    const words = settled.flatMap((one, i) =>
      one.status === "fulfilled" ? [{ endpoint: endpoints[i]!, value: one.value }] : [],
    );
    if (words.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
    return words;
  }

  /** One node's newest blockhash, checked against its own block height. @throws TradewireError UPSTREAM_ERROR */
  async #fetchConsistent(endpoint: RpcEndpoint) {
    const [blockhash, info] = await Promise.all([
      this.#pool.ask(endpoint, "getLatestBlockhash", [CONFIRMED]),
      this.#pool.ask(endpoint, "getEpochInfo", [CONFIRMED]),
    ]);
    const { slot, lastValidBlockHeight } = decodeLifetime(blockhash);
    const height = decodeHeight(info);
    const skipped = { slot: height.slot, count: skippedOf(height) };
    const blocks = lastValidBlockHeight - slot + skipped.count;
    const isPlausible = blocks >= LEAST_BLOCKHASH_BLOCKS && blocks <= MOST_BLOCKHASH_BLOCKS && skipped.count >= 0n;
    if (!isPlausible)
      throw new NodeError("malformed", `The Solana node ${endpoint.name} contradicts itself about its block height.`);
    return { skipped, blocks, blockhashSlot: slot };
  }
}

/** The number of skipped slots only grows, by at most one per slot. */
function canFollow({ slot, count }: Skipped, known: Skipped): boolean {
  const passed = slot - known.slot;
  const more = count - known.count;
  const most = passed / SKIPPED_PART > MAX_SKIPPED ? passed / SKIPPED_PART : MAX_SKIPPED;
  const upper = passed < 0n ? 0n : passed < most ? passed : most;
  const lower = passed < 0n ? (passed > -MAX_SKIPPED ? passed : -MAX_SKIPPED) : 0n;
  return more <= upper + FORK_SLOTS && more >= lower - FORK_SLOTS;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

function skippedOf({ slot, height }: SlotHeight): bigint {
  return slot - height;
}
