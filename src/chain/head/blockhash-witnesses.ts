import bs58 from "bs58";
import type { Now } from "../../primitives/clock.ts";
import type { Lifetime } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext } from "../rpc/rpc-values.ts";
import { MAX_LAG_SLOTS } from "./newest-slot.ts";

interface BlockhashWitnessesOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** True of a slot so far from the head that its node says nothing about a new blockhash. */
  readonly isOff: (slot: bigint) => boolean;
  /** Time without a word of any other node after which the word of one counts. Milliseconds. */
  readonly aloneAfterMs: number;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
}

/**
 * What a node says of a blockhash; behind: it has not come to the blockhash's slot; far behind: by more slots than a healthy node is;
 * nothing: no usable answer.
 */
type Word = "known" | "unknown" | "behind" | "far behind" | "nothing";

const METHOD = "isBlockhashValid";
/** A new blockhash is wanted several times a second: a node that takes longer is no witness of this one. Milliseconds. */
const TIMEOUT_MS = 1_000;
/** Silence after which a node is not asked. Milliseconds. */
const SILENT_MS = 1_000;
/** Blockhashes remembered: more than are read in the life of one. */
const MAX_PROVEN = 512;
/** Pause between two lines in the log about the same node. Milliseconds. */
const WARN_EVERY_MS = 10_000;

/**
 * Whether a second node knows a new blockhash: what is built on one that only its own node knows can never land. Every other node
 * that has come to its slot is asked until one knows it. With one node, and after a while without a word of any other, or with one
 * other that is far behind, one node's word counts; that of the trusted one always does.
 */
export class BlockhashWitnesses {
  readonly #options: BlockhashWitnessesOptions;
  /** The slot each blockhash was first proven with, oldest first. */
  readonly #proven = new Map<string, bigint>();
  readonly #warnedAtMs = new Map<RpcEndpoint, number>();
  /** When a node other than the one in question last had a say. */
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #isContradicted = false;

  constructor(options: BlockhashWitnessesOptions) {
    this.#options = options;
  }

  /** False with one node: its word counts. */
  get isOn(): boolean {
    return this.#options.pool.endpoints.length > 1;
  }

  /** True while the newest blockhash is one that the other nodes do not know. */
  get isContradicted(): boolean {
    return this.#isContradicted;
  }

  /** True if messages may be built on the blockhash that this node names. A node that others contradict is doubted. Never rejects. */
  async prove({ blockhash, slot }: Lifetime, from: RpcEndpoint): Promise<boolean> {
    const text = bs58.encode(blockhash);
    const proven = this.#proven.get(text);
    if (proven !== undefined && slot > proven + MAX_LAG_SLOTS) {
      this.#contradict(from, `names a blockhash of slot ${proven} as that of slot ${slot}`);
      return false;
    }
    const isProven = from === this.#options.trusted || (await this.#ask(text, slot, from));
    if (isProven) {
      this.#isContradicted = false;
      if (proven === undefined) this.#remember(text, slot);
    }
    return isProven;
  }

  async #ask(text: string, slot: bigint, from: RpcEndpoint): Promise<boolean> {
    const { now, aloneAfterMs, trusted } = this.#options;
    const [first, ...rest] = this.#othersThan(from);
    const words = new Map<RpcEndpoint, Word>();
    const ask = async (endpoint: RpcEndpoint) => void words.set(endpoint, await this.#wordOf(endpoint, text, slot));
    if (first !== undefined) await ask(first);
    const isDecided = isOneOf(words, "known") || (first === trusted && isOneOf(words, "unknown"));
    if (!isDecided) await Promise.all(rest.map(ask));
    const hasSpoken = isHeard([...words.values()]);
    const isAlone = now() - this.#heardAtMs > aloneAfterMs;
    if (hasSpoken) this.#heardAtMs = now();
    const strangers = [...words].flatMap(([endpoint, word]) => (word === "unknown" ? [endpoint] : []));
    if (isOneOf(words, "known")) {
      // Two nodes know it: those that deny it are asked last for a while, else each proof would take a call more.
      for (const stranger of strangers) stranger.doubt();
      return true;
    }
    if (strangers.length > 0)
      this.#contradict(
        from,
        `names a blockhash that ${strangers.map(({ name }) => name).join(" and ")} ${strangers.length > 1 ? "do" : "does"} not know`,
      );
    return !hasSpoken && isAlone;
  }

  /** The trusted one first, then those that answer well; without those that are silent. */
  #othersThan(from: RpcEndpoint): readonly RpcEndpoint[] {
    const { pool, trusted } = this.#options;
    const rank = (endpoint: RpcEndpoint) =>
      endpoint === trusted ? 0 : endpoint.isCooling() || endpoint.isAside() ? 2 : 1;
    return pool.endpoints
      .filter((endpoint) => endpoint !== from && endpoint.silentForMs() < SILENT_MS)
      .sort((a, b) => rank(a) - rank(b));
  }

  async #wordOf(endpoint: RpcEndpoint, text: string, slot: bigint): Promise<Word> {
    const { pool, isOff } = this.#options;
    try {
      const answer = await pool.ask(endpoint, METHOD, [text, { commitment: "processed" }], TIMEOUT_MS);
      const { slot: readAt, value } = asContext(answer, "a blockhash's validity");
      if (typeof value !== "boolean" || isOff(readAt)) return "nothing";
      // A node that knows it before its slot knows an older one.
      if (readAt < slot) return readAt + MAX_LAG_SLOTS < slot ? "far behind" : "behind";
      return value ? "known" : "unknown";
    } catch {
      return "nothing";
    }
  }

  #contradict(from: RpcEndpoint, what: string): void {
    this.#isContradicted = true;
    from.doubt();
    const { now, warn } = this.#options;
    if (now() - (this.#warnedAtMs.get(from) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    this.#warnedAtMs.set(from, now());
    warn(`The Solana node ${from.name} ${what}; trades are built on the last one that two nodes know.`);
  }

  #remember(text: string, slot: bigint): void {
    this.#proven.set(text, slot);
    if (this.#proven.size > MAX_PROVEN) this.#proven.delete(this.#proven.keys().next().value!);
  }
}

/** True if the words count beside that of the node in question. One node far behind lags; of two it is the one ahead that is doubtful. */
function isHeard(words: readonly Word[]): boolean {
  const isNear = words.some((word) => word !== "nothing" && word !== "far behind");
  return isNear || words.filter((word) => word === "far behind").length > 1;
}

function isOneOf(words: ReadonlyMap<RpcEndpoint, Word>, wanted: Word): boolean {
  return [...words.values()].includes(wanted);
}
