import type { Random } from "../../../src/primitives/random.ts";
import { type Block, type ForkingNetwork, isAncestor, type Write } from "./network.ts";

/** What a node sees happen, in its order. */
export type NodeEvent =
  | { readonly kind: "created"; readonly slot: number; readonly parent: number; readonly bankId: number }
  | {
      readonly kind: "write";
      readonly slot: number;
      readonly write: Write;
      readonly writeVersion: number;
      readonly bankId: number;
    }
  | { readonly kind: "frozen" | "confirmed" | "rooted" | "dead"; readonly slot: number }
  /** What reads are answered from, and WebSockets report, is another block. */
  | { readonly kind: "processed"; readonly block: Block };

/** Slots by which a node that nothing is wrong with may be behind. */
const MOST_BEHIND = 5;

/** One node: it learns of blocks late, executes each after its parent, and follows a branch of its own choice until all agree. */
export class ForkingNode {
  readonly name: string;
  readonly network: ForkingNetwork;
  head: Block;
  root: Block;
  /** Everything that it saw happen: what a stream can be repeated from. */
  readonly memory: NodeEvent[] = [];
  readonly listeners = new Set<(event: NodeEvent) => void>();
  readonly #random: Random;
  readonly #slotMs: number;
  readonly #frozen = new Set<Block>();
  readonly #begun = new Set<Block>();
  readonly #onTheWay = new Set<Block>();
  #inbox: Block[] = [];
  #stalledUntilMs = 0;
  #downUntilMs = 0;
  #lateMs = 0;
  #writeVersion: number;
  #bankId = 0;
  #confirmed: Block;
  #newest = 0;
  /** How often it has started again: what was under way then is lost. */
  #runs = 0;

  constructor(name: string, network: ForkingNetwork, random: Random, slotMs: number) {
    this.name = name;
    this.network = network;
    this.#random = random;
    this.#slotMs = slotMs;
    [this.head] = network.tips as [Block];
    this.root = this.#confirmed = this.head;
    this.#frozen.add(this.head);
    this.#writeVersion = random.u32() % 1_000_000;
  }

  /** The newest slot that it has begun. */
  get newest(): number {
    return this.#newest;
  }

  /** A block reaches it. */
  receive(block: Block): void {
    this.#onTheWay.add(block);
    setTimeout(() => this.#take(block), this.#lateMs + 5 + (this.#random.u32() % 60));
  }

  #take(block: Block): void {
    if (!this.#onTheWay.delete(block)) return;
    this.#inbox.push(block);
    this.#drain();
  }

  /** It executes nothing for a while, and then all at once. */
  stall(ms: number): void {
    this.#stalledUntilMs = Date.now() + ms;
    setTimeout(() => this.#drain(), ms);
  }

  /** Blocks reach it late, for a while or until it recovers: it stays so far behind. */
  lag(lateMs: number, forMs?: number): void {
    this.#lateMs = lateMs;
    if (forMs === undefined) return;
    setTimeout(() => {
      this.#lateMs = 0;
    }, forMs);
  }

  /** True while blocks reach it late, or it has yet to come to those that have. */
  get isLate(): boolean {
    return this.#lateMs > 0 || this.#newest + MOST_BEHIND < this.network.slot;
  }

  /** It starts again from a block of before, and has forgotten what came after. */
  restart(from: Block): void {
    this.#begin(from);
    this.#drain();
  }

  /** The chain starts again from an older block, and with it every node: what came after reaches it no more. */
  undo(): void {
    this.#begin(this.network.rooted);
    this.#inbox.length = 0;
    this.#onTheWay.clear();
  }

  #begin(from: Block): void {
    for (const block of [...this.#frozen, ...this.#begun])
      if (block.slot > from.slot) {
        this.#frozen.delete(block);
        this.#begun.delete(block);
        if (!this.#inbox.includes(block)) this.#inbox.push(block);
      }
    this.#inbox.sort((a, b) => a.slot - b.slot);
    this.memory.length = 0;
    this.#frozen.add(from);
    this.head = this.root = this.#confirmed = from;
    this.#newest = from.slot;
    this.#runs += 1;
  }

  /** The others have given its branch up: it follows theirs. */
  reconsider(): void {
    if (this.isStalled || !this.network.isLost(this.head)) return;
    let [best] = this.network.tips;
    while (best !== undefined && !this.#frozen.has(best)) best = best.parent;
    if (best === undefined) return;
    this.head = best;
    this.#emit({ kind: "processed", block: best });
  }

  /** Nothing is wrong with it any more. */
  recover(): void {
    this.#downUntilMs = 0;
    this.#stalledUntilMs = 0;
    this.#lateMs = 0;
    for (const block of this.#onTheWay) this.#take(block);
    this.#drain();
  }

  /** It answers nobody for a while. */
  leave(ms: number): void {
    this.#downUntilMs = Math.max(this.#downUntilMs, Date.now() + ms);
  }

  get isDown(): boolean {
    return Date.now() < this.#downUntilMs;
  }

  get isStalled(): boolean {
    return Date.now() < this.#stalledUntilMs;
  }

  #drain(): void {
    if (this.isStalled) return;
    this.#inbox = this.#inbox.filter((block) => {
      if (!this.#frozen.has(block.parent!) || this.#begun.has(block)) return !this.#begun.has(block);
      this.#execute(block);
      return false;
    });
  }

  #execute(block: Block): void {
    this.#begun.add(block);
    const { slot, parent, writes, replaced } = block;
    this.#newest = Math.max(this.#newest, slot);
    const isLate = this.network.slot > slot + 1;
    const ms = isLate ? 4 : Math.floor(this.#slotMs * (0.3 + (this.#random.u32() % 100) / 200));
    const steps: (() => void)[] = [];
    if (replaced !== undefined) steps.push(...this.#bank(slot, replaced.parent, replaced.writes));
    steps.push(...this.#bank(slot, parent!, writes));
    const run = this.#runs;
    const inThisRun = (step: () => void) => () => {
      if (run === this.#runs) step();
    };
    steps.forEach((step, i) => void setTimeout(inThisRun(step), (ms * i) / steps.length));
    setTimeout(
      inThisRun(() => this.#finish(block)),
      ms,
    );
  }

  #bank(slot: number, parent: Block, writes: readonly Write[]): (() => void)[] {
    const bankId = ++this.#bankId;
    return [
      () => this.#emit({ kind: "created", slot, parent: parent.slot, bankId }),
      ...writes.map((write) => () => {
        this.#emit({ kind: "write", slot, write, writeVersion: ++this.#writeVersion, bankId });
      }),
    ];
  }

  #finish(block: Block): void {
    if (block.isDead) {
      this.#emit({ kind: "dead", slot: block.slot });
      return;
    }
    this.#frozen.add(block);
    this.#emit({ kind: "frozen", slot: block.slot });
    this.#choose(block);
    const { confirmed, rooted } = this.network;
    if (confirmed.slot > this.#confirmed.slot && this.#frozen.has(confirmed)) {
      this.#confirmed = confirmed;
      this.#emit({ kind: "confirmed", slot: confirmed.slot });
    }
    if (rooted.slot > this.root.slot && this.#frozen.has(rooted) && isAncestor(rooted, this.head)) {
      this.root = rooted;
      this.#emit({ kind: "rooted", slot: rooted.slot });
    }
    this.#drain();
  }

  #choose(block: Block): void {
    const isLost = this.network.isLost(this.head);
    if (!isLost && !isAncestor(this.head, block) && (this.network.isLost(block) || this.#random.chance(0.5))) return;
    if (isLost && this.network.isLost(block) && !isAncestor(this.head, block)) return;
    this.head = block;
    this.#emit({ kind: "processed", block });
  }

  #emit(event: NodeEvent): void {
    this.memory.push(event);
    for (const listener of [...this.listeners]) listener(event);
  }
}
