import bs58 from "bs58";
import type { Now } from "../../../primitives/clock.ts";
import type { Lifetime } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import type { RecentBlockhashes } from "../head-answers.ts";
import { MAX_LAG_SLOTS } from "../newest-slot.ts";
import { BlockhashRecord } from "./blockhash-record.ts";
import { askBlockhashWord, type BlockhashWord } from "./blockhash-word.ts";

interface BlockhashWitnessesOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** True for a slot so far from the head that its node proves nothing about a new blockhash. */
  readonly isOff: (slot: bigint) => boolean;
  /** Silence of all other nodes after which one node's word counts. Milliseconds. */
  readonly aloneAfterMs: number;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
}

/** Silence after which a node is not asked. Milliseconds. */
const SILENT_MS = 1_000;
/** Blockhashes remembered: more than are read in the lifetime of one. */
const MAX_PROVEN = 512;
/** Pause between two lines in the log about the same node. Milliseconds. */
const WARN_EVERY_MS = 10_000;

/**
 * Decides whether a second node knows a new blockhash as new: a message on one that only its own node knows can never land, and on an
 * old one it expires early. The other nodes that have come to its slot are asked until one knows it. One node's word counts if there
 * is no other, if all others have been silent for a while, or if the only other one is far from it; the trusted node's always does.
 */
export class BlockhashWitnesses {
  readonly #options: BlockhashWitnessesOptions;
  /** The slot each blockhash was first proven with, oldest first. */
  readonly #proven = new Map<string, bigint>();
  readonly #warnedAtMs = new Map<RpcEndpoint, number>();
  /** When a node other than the one in question last gave a usable answer. */
  #heardAtMs = Number.NEGATIVE_INFINITY;
  readonly #record: BlockhashRecord;
  #isContradicted = false;
  /** True once two nodes, or the trusted one, have known a blockhash as new. */
  #isHeadSure = false;

  constructor(options: BlockhashWitnessesOptions) {
    this.#options = options;
    this.#record = new BlockhashRecord(options.now, options.aloneAfterMs);
  }

  /** False with one node: its word is enough. */
  get isOn(): boolean {
    return this.#options.pool.endpoints.length > 1;
  }

  /** True while the other nodes do not know the newest blockhash, or know it as an older one. */
  get isContradicted(): boolean {
    return this.#isContradicted;
  }

  /** True if messages may be built on the blockhash that this node names. A node that others contradict is doubted. Never rejects. */
  async prove(named: Lifetime, from: RpcEndpoint): Promise<boolean> {
    const { slot } = named;
    const text = bs58.encode(named.blockhash);
    this.#record.noteNamed(from, named);
    const proven = this.#proven.get(text);
    if (proven !== undefined && slot > proven + MAX_LAG_SLOTS) {
      this.#contradict(from, `names a blockhash of slot ${proven} as that of slot ${slot}`);
      return false;
    }
    const isProven = from === this.#options.trusted || (await this.#ask(named, from));
    if (isProven) {
      this.#isContradicted = false;
      if (proven === undefined) this.#remember(text, slot);
    }
    return isProven;
  }

  async #ask(named: Lifetime, from: RpcEndpoint): Promise<boolean> {
    const { now, aloneAfterMs, trusted, pool, isOff } = this.#options;
    const [first, ...rest] = this.#othersThan(from);
    const words = new Map<RpcEndpoint, BlockhashWord>();
    const question = { pool, named, isOff, isHeadSure: this.#isHeadSure };
    const ask = async (endpoint: RpcEndpoint) => {
      const onList = (list: RecentBlockhashes) => this.#record.noteList(endpoint, list);
      words.set(endpoint, await askBlockhashWord({ ...question, endpoint, onList }));
    };
    if (first !== undefined) await ask(first);
    const isDenied = (word: BlockhashWord | undefined) => word === "unknown" || word === "older";
    const isDecided =
      isOneOf(words, "known") || (first === trusted && first !== undefined && isDenied(words.get(first)));
    if (!isDecided) await Promise.all(rest.map(ask));
    const hasSpoken = isHeard([...words.values()]);
    const isAlone = now() - this.#heardAtMs > aloneAfterMs;
    if (hasSpoken) this.#heardAtMs = now();
    const strangers = [...words].flatMap(([endpoint, word]) => (isDenied(word) ? [endpoint] : []));
    // A node without a list cannot tell the age; another may know the blockhash as an old one.
    const isOld = isOneOf(words, "older") || isOneOf(words, "far ahead");
    if (isOneOf(words, "known") || (isOneOf(words, "valid") && !isOld)) {
      // Two nodes know it: the nodes that deny it are asked last for a while, because each proof would cost one more call otherwise.
      for (const stranger of strangers) stranger.doubt();
      this.#isHeadSure = true;
      return true;
    }
    if (strangers.length > 0) this.#contradict(from, denialOf(strangers, isOneOf(words, "older")));
    const isWanting = (endpoint: RpcEndpoint) =>
      words.get(endpoint) === "far behind" && this.#record.isWanting(from, endpoint);
    return !hasSpoken && isAlone && !isOld && ![...words.keys()].some(isWanting);
  }

  /** The trusted node first, then those that answer well; silent ones are left out. */
  #othersThan(from: RpcEndpoint): readonly RpcEndpoint[] {
    const { pool, trusted } = this.#options;
    const rank = (endpoint: RpcEndpoint) =>
      endpoint === trusted ? 0 : endpoint.isCooling() || endpoint.isAside() ? 2 : 1;
    return pool.endpoints
      .filter((endpoint) => endpoint !== from && endpoint.silentForMs() < SILENT_MS)
      .sort((a, b) => rank(a) - rank(b));
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

/**
 * True if these answers count against that of the node in question. A single node far from it lags; with two, the one ahead is doubtful.
 */
function isHeard(words: readonly BlockhashWord[]): boolean {
  const isFar = (word: BlockhashWord) => word === "far behind" || word === "far ahead";
  const isNear = words.some((word) => word !== "nothing" && !isFar(word));
  return isNear || words.filter(isFar).length > 1;
}

function denialOf(strangers: readonly RpcEndpoint[], isOlder: boolean): string {
  const names = strangers.map(({ name }) => name).join(" and ");
  const verb = strangers.length > 1 ? "do" : "does";
  return isOlder
    ? `names a blockhash as new that ${names} ${verb} not have as new`
    : `names a blockhash that ${names} ${verb} not know`;
}

function isOneOf(words: ReadonlyMap<RpcEndpoint, BlockhashWord>, wanted: BlockhashWord): boolean {
  return [...words.values()].includes(wanted);
}
