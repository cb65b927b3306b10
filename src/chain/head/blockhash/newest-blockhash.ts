import type { Now } from "../../../primitives/clock.ts";
import type { Lifetime } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import type { BlockHeights } from "../block-heights.ts";
import { decodeLifetime } from "../head-answers.ts";
import { MAX_LAG_SLOTS, type NewestSlot } from "../newest-slot.ts";
import { BlockhashWitnesses } from "./blockhash-witnesses.ts";
import { isUndone } from "./undone-blockhash.ts";

interface NewestBlockhashOptions {
  readonly pool: RpcPool;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly newest: NewestSlot;
  readonly heights: BlockHeights;
  /** Oldest age at which messages are built on it. Milliseconds. */
  readonly maxAgeMs: number;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
}

/** A blockhash, the node that named it, and when it was asked (epoch milliseconds). */
interface LifetimeRead {
  readonly lifetime: Lifetime;
  readonly from: RpcEndpoint;
  readonly askedAtMs: number;
}

/** Blocks that may have begun after the newest blockhash of a healthy node. */
const MAX_BLOCKHASH_BLOCKS = 10;
/** Nodes asked at a time for a blockhash that another node knows. */
const BLOCKHASHES_PER_REFRESH = 2;
/** Part of the maximum age after which one node's word counts if no other node answers. */
const ALONE_AFTER = 1 / 2;
/** How long a newer, still unproven blockhash counts as a sign that the nodes do not stand still. Milliseconds. */
const AWAITED_MS = 2_000;
const CONFIRMED = { commitment: "confirmed" };

/** The newest blockhash that messages may be built on: with two nodes or more one that a second node knows. */
export class NewestBlockhash {
  readonly #pool: RpcPool;
  readonly #now: Now;
  readonly #newest: NewestSlot;
  readonly #heights: BlockHeights;
  readonly #maxAgeMs: number;
  readonly #witnesses: BlockhashWitnesses;
  #lifetime: Lifetime | undefined;
  #askedAtMs = 0;
  /** The blockhash being proven; undefined while none is. */
  #proving: Promise<void> | undefined;
  /** Incremented when the known blockhash becomes void: answers to earlier requests no longer count. */
  #epoch = 0;
  /** When a node last named a newer blockhash that no second node knew yet. */
  #awaitedAtMs = Number.NEGATIVE_INFINITY;
  /** True while nodes answer with a blockhash that the chain has left behind. */
  #isOvertaken = false;
  #isUndone = false;
  #standstills = 0;

  constructor(options: NewestBlockhashOptions) {
    this.#pool = options.pool;
    this.#now = options.now;
    this.#newest = options.newest;
    this.#heights = options.heights;
    this.#maxAgeMs = options.maxAgeMs;
    const isOff = (slot: bigint) => this.#newest.isOff(slot);
    this.#witnesses = new BlockhashWitnesses({ ...options, isOff, aloneAfterMs: ALONE_AFTER * this.#maxAgeMs });
  }

  /** Undefined before the first, and while the last one's chain is undone. */
  get lifetime(): Lifetime | undefined {
    return this.#lifetime;
  }

  /** Since it was asked for. Milliseconds. */
  ageMs(): number {
    return this.#now() - this.#askedAtMs;
  }

  /**
   * A blockhash some seconds old is still good for most of a minute: the bound protects the time left, and against nodes that stand still.
   */
  isStale(): boolean {
    return this.#lifetime === undefined || this.ageMs() > this.#maxAgeMs || this.#isOvertaken;
  }

  /** True if proving a blockhash takes a call: with several nodes. */
  get isProven(): boolean {
    return this.#witnesses.isOn;
  }

  /** True while the other nodes do not know the newest blockhash named. */
  get isContradicted(): boolean {
    return this.#witnesses.isContradicted;
  }

  /** True after the nodes no longer know the last one, because its chain was undone, until there is another or the head is found anew. */
  get isUndone(): boolean {
    return this.#isUndone;
  }

  /** Number of refreshes without a newer one; it selects the node to ask first. */
  get standstills(): number {
    return this.#standstills;
  }

  /** Whatever was known is wrong. */
  forget(): void {
    this.#void();
    this.#lifetime = undefined;
    this.#isUndone = false;
  }

  /** Drops the blockhash if the nodes no longer know it. To be called if what they name contradicts the chain. Never rejects. */
  async dropIfUndone(): Promise<void> {
    const lifetime = this.#lifetime;
    if (lifetime === undefined || !(await isUndone(this.#pool, lifetime)) || lifetime !== this.#lifetime) return;
    this.forget();
    this.#isUndone = true;
  }

  /** Resolves once the pending proof has succeeded or failed. Never rejects. */
  async settle(): Promise<void> {
    await this.#proving;
  }

  /** The newest slot was taken back: a blockhash from above it is replaced as soon as possible. @throws TradewireError UPSTREAM_ERROR */
  async comeBackTo(slot: bigint): Promise<void> {
    // A blockhash that is being read or proven may be from above it.
    this.#void();
    if (this.#lifetime !== undefined && this.#lifetime.slot > slot) await this.refresh(0n);
  }

  #void(): void {
    this.#epoch += 1;
    this.#proving = undefined;
  }

  /**
   * Reads a newer one, which counts once another node knows it; with several nodes that check runs in the background.
   *
   * @param known slot of the blockhash that it replaces
   * @throws TradewireError UPSTREAM_ERROR
   */
  async refresh(known = this.#lifetime?.slot ?? 0n): Promise<void> {
    const epoch = this.#epoch;
    const read = await this.#read(known);
    if (read === undefined || epoch !== this.#epoch) return;
    if (!this.#witnesses.isOn) this.#adopt(read);
    else
      this.#proving ??= this.#prove(read, known).finally(() => {
        if (epoch === this.#epoch) this.#proving = undefined;
      });
  }

  /** Adopts the blockhash if another node knows it; else one that another node names. Never rejects. */
  async #prove(first: LifetimeRead, known: bigint): Promise<void> {
    const epoch = this.#epoch;
    let read: LifetimeRead | undefined = first;
    for (let asked = 1; read !== undefined; asked++) {
      const isProven = await this.#witnesses.prove(read.lifetime, read.from);
      if (epoch !== this.#epoch) return;
      if (isProven) {
        this.#adopt(read);
        return;
      }
      this.#standstills += 1;
      this.#awaitedAtMs = this.#now();
      this.#isOvertaken = false;
      // If none answers, the next refresh reports why.
      read = asked < BLOCKHASHES_PER_REFRESH ? await this.#read(known).catch(() => undefined) : undefined;
    }
  }

  /** One newer than that of the slot; undefined if there is none. @throws TradewireError UPSTREAM_ERROR */
  async #read(known: bigint): Promise<LifetimeRead | undefined> {
    const askedAtMs = this.#now();
    let from = this.#pool.endpoints[0]!;
    const result = await this.#pool.read("getLatestBlockhash", [CONFIRMED], {
      // After a standstill another endpoint is asked first.
      startAt: this.#standstills,
      isWrong: (answer) => this.#isWrong(decodeLifetime(answer), known),
      onAnswer: (endpoint) => {
        from = endpoint;
      },
    });
    const lifetime = decodeLifetime(result);
    // An endpoint that lags or stands still must not replace the blockhash, nor make it look new.
    if (lifetime.slot <= known) {
      this.#standstills += 1;
      const isAwaited = this.#now() - this.#awaitedAtMs < AWAITED_MS;
      this.#isOvertaken = !isAwaited && this.#newest.blocksSince(known) > MAX_BLOCKHASH_BLOCKS;
      return undefined;
    }
    return { lifetime, from, askedAtMs };
  }

  #adopt({ lifetime, askedAtMs }: LifetimeRead): void {
    this.#lifetime = lifetime;
    this.#askedAtMs = askedAtMs;
    this.#isOvertaken = false;
    this.#isUndone = false;
    this.#newest.noteReached(lifetime.slot);
  }

  #isWrong(lifetime: Lifetime, known: bigint): boolean {
    const lags = lifetime.slot + MAX_LAG_SLOTS < known;
    // Before the first blockhash, only the newest slot shows which node lags.
    const isOff = known === 0n ? this.#newest.isOff(lifetime.slot) : !this.#newest.isReachable(lifetime.slot);
    return lags || isOff || !this.#heights.fits(lifetime);
  }
}
