import type { Random } from "../../../src/primitives/random.ts";

/** What an account holds: a number of its own for each write; null once it is closed. */
export type Value = number | null;

/** A write of one account within a block. */
export interface Write {
  readonly key: number;
  readonly value: Value;
}

/** One bank of a slot. A slot may have two: the first is replaced as its leader turns to another parent. */
export interface Block {
  readonly slot: number;
  readonly parent: Block | undefined;
  readonly writes: readonly Write[];
  readonly isDead: boolean;
  /** What was executed of the slot before on another parent, and is void. */
  readonly replaced: { readonly parent: Block; readonly writes: readonly Write[] } | undefined;
  /** What each account holds at its end. */
  readonly state: readonly Value[];
}

/** How often in a slot something happens. */
export interface NetworkChances {
  readonly skip: number;
  readonly dead: number;
  readonly fork: number;
  readonly replace: number;
  readonly write: number;
  /** Part of the writes that bring back what the account held before. */
  readonly back: number;
}

export const FIRST_SLOT = 1_000;
const CONFIRMED_DEPTH = 2;
const ROOT_DEPTH = 12;
const MAX_BRANCHES = 3;

/** The chain as nobody sees it: every block of every branch, and which of them lasts. */
export class ForkingNetwork {
  readonly keys: number;
  /** True: nothing is written any more. */
  isSilent = false;
  /** The newest block of each branch that may last. */
  tips: Block[];
  /** True once final blocks were undone. */
  wasUndone = false;
  /** The newest slot, with a block or without. */
  slot = FIRST_SLOT;
  readonly #random: Random;
  readonly #chances: NetworkChances;
  /** Branches that were given up, until each that may last is longer: who knows of slots alone takes them for it. */
  #lost: Block[] = [];
  #confirmed: Block;
  #rooted: Block;
  #decideAt = 0;
  #values = 0;
  /** When each value was last held on a branch that may last (milliseconds), by account. */
  readonly #aliveAtMs: Map<Value, number>[];
  /** What each account held at the end of a bank of a slot, or within it. */
  readonly #heldAtEnd = new Map<string, Set<Value>>();
  readonly #heldWithin = new Map<string, Set<Value>>();

  constructor(random: Random, keys: number, chances: NetworkChances) {
    this.#random = random;
    this.keys = keys;
    this.#chances = chances;
    const state = Array.from({ length: keys }, () => ++this.#values);
    const genesis = { slot: FIRST_SLOT, parent: undefined, writes: [], isDead: false, replaced: undefined, state };
    this.tips = [genesis];
    this.#confirmed = this.#rooted = genesis;
    this.#aliveAtMs = Array.from({ length: keys }, () => new Map());
    this.#note(genesis);
  }

  /** The block that all nodes have voted for: no branch leaves out what is before it. */
  get confirmed(): Block {
    return this.#confirmed;
  }

  get rooted(): Block {
    return this.#rooted;
  }

  isLost(block: Block): boolean {
    return !this.tips.some((tip) => isAncestor(block, tip));
  }

  /**
   * The next slot.
   *
   * @param isAbsent true: its leader makes no block
   * @returns its block; undefined if it is skipped
   */
  advance(atMs: number, isCalm = false, isAbsent = false): Block | undefined {
    const random = this.#random;
    this.slot += 1;
    if (this.tips.length > 1 && (this.slot >= this.#decideAt || isCalm)) this.#decide();
    const parent = random.pick(this.tips);
    const chance = (one: number) => !isCalm && random.chance(one);
    let block: Block | undefined;
    if (isAbsent || chance(this.#chances.skip)) block = undefined;
    else if (chance(this.#chances.dead)) block = this.#make(parent, true, false);
    else if (this.tips.length < MAX_BRANCHES && chance(this.#chances.fork)) {
      const from = this.#before(parent);
      block = this.#make(from, false, true);
      if (from !== parent) {
        if (this.tips.length === 1) this.#decideAt = this.slot + 1 + (random.u32() % 6);
        this.tips.push(block);
      } else this.#extend(parent, block);
    } else {
      block = this.#make(parent, false, isCalm);
      this.#extend(parent, block);
    }
    this.#confirmed = later(this.#confirmed, this.#sharedAt(CONFIRMED_DEPTH));
    this.#rooted = later(this.#rooted, this.#sharedAt(ROOT_DEPTH));
    const shortest = Math.min(...this.tips.map(({ slot }) => slot));
    this.#lost = this.#lost.filter(({ slot }) => slot >= shortest);
    this.#noteAlive(atMs);
    if (block !== undefined) this.#noteAliveIn(block, atMs);
    // Who executes a bank that is replaced has no other state than that before it.
    for (const [key, value] of block?.replaced?.parent.state.entries() ?? []) this.#live(key, value, atMs);
    return block;
  }

  /** The chain starts again from so many blocks before the root: what came after is undone, though it was final. */
  undo(depth: number): void {
    this.wasUndone = true;
    let at = this.#rooted;
    for (let i = 0; i < depth && at.parent !== undefined; i++) at = at.parent;
    this.tips = [at];
    this.#lost = [];
    this.#confirmed = this.#rooted = at;
  }

  /** When the account last held the value on a branch that may last, or within a slot on one. Milliseconds. */
  aliveAtMs(key: number, value: Value): number {
    return this.#aliveAtMs[key]!.get(value) ?? Number.NEGATIVE_INFINITY;
  }

  /** True if the account held the value at the end of the slot, on any branch, or within it if that counts. */
  wasHeld(key: number, slot: number, value: Value, isWithin: boolean): boolean {
    const name = `${slot} ${key}`;
    if (this.#heldAtEnd.get(name)?.has(value) === true) return true;
    return isWithin && this.#heldWithin.get(name)?.has(value) === true;
  }

  #sharedAt(depth: number): Block {
    let at = this.tips[0]!;
    for (let i = 0; i < depth && at.parent !== undefined; i++) at = at.parent;
    while (at.parent !== undefined && !this.tips.every((tip) => isAncestor(at, tip))) at = at.parent;
    return at;
  }

  #decide(): void {
    const winner = this.#random.pick(this.tips);
    this.#lost.push(...this.tips.filter((tip) => tip !== winner));
    this.tips = [winner];
  }

  /** A parent from before the newest block, not before what is confirmed. */
  #before(tip: Block): Block {
    const { confirmed } = this;
    let at = tip;
    for (let back = 1 + (this.#random.u32() % 3); back > 0 && at !== confirmed && at.parent !== undefined; back--)
      at = at.parent;
    return at;
  }

  #extend(parent: Block, block: Block): void {
    this.tips[this.tips.indexOf(parent)] = block;
  }

  #make(parent: Block, isDead: boolean, isWhole: boolean): Block {
    const random = this.#random;
    const isReplaced = !isWhole && parent.parent !== undefined && random.chance(this.#chances.replace);
    const replaced = isReplaced ? { parent: parent.parent!, writes: this.#drawWrites(parent.parent!) } : undefined;
    const writes = this.#drawWrites(parent);
    const state = [...parent.state];
    for (const { key, value } of writes) state[key] = value;
    const block = { slot: this.slot, parent, writes, isDead, replaced, state };
    this.#note(block);
    return block;
  }

  #drawWrites(parent: Block): Write[] {
    const random = this.#random;
    if (this.isSilent) return [];
    const writes: Write[] = [];
    for (let key = 0; key < this.keys; key++) {
      // Some accounts change often, some hardly ever.
      if (!random.chance(this.#chances.write / (1 + key * key))) continue;
      for (let times = 1 + (random.u32() % 3); times > 0; times--) {
        writes.push({ key, value: this.#drawValue(parent, key) });
      }
    }
    return writes;
  }

  /** A number of its own, but for some that an account comes back to. */
  #drawValue(parent: Block, key: number): Value {
    const random = this.#random;
    const now = parent.state[key]!;
    if (now !== null && random.chance(0.1)) return null;
    const before = parent.parent?.state[key] ?? null;
    return before !== null && random.chance(this.#chances.back) ? before : ++this.#values;
  }

  #note(block: Block): void {
    for (let key = 0; key < this.keys; key++) addTo(this.#heldAtEnd, `${block.slot} ${key}`, block.state[key]!);
    for (const { key, value } of [...block.writes, ...(block.replaced?.writes ?? [])])
      addTo(this.#heldWithin, `${block.slot} ${key}`, value);
    if (block.replaced === undefined) return;
    for (const [key, value] of block.replaced.parent.state.entries())
      addTo(this.#heldWithin, `${block.slot} ${key}`, value);
    for (const [key, value] of block.parent!.state.entries()) addTo(this.#heldWithin, `${block.slot} ${key}`, value);
  }

  #noteAlive(atMs: number): void {
    for (const block of [...this.tips, ...this.#lost]) {
      this.#noteAliveIn(block, atMs);
      if (block.parent !== undefined)
        for (const [key, value] of block.parent.state.entries()) this.#live(key, value, atMs);
    }
  }

  #noteAliveIn({ state, writes, replaced }: Block, atMs: number): void {
    for (const [key, value] of state.entries()) this.#live(key, value, atMs);
    for (const { key, value } of [...writes, ...(replaced?.writes ?? [])]) this.#live(key, value, atMs);
  }

  #live(key: number, value: Value, atMs: number): void {
    this.#aliveAtMs[key]!.set(value, atMs);
  }
}

export function isAncestor(block: Block, of: Block): boolean {
  let at: Block | undefined = of;
  while (at !== undefined && at.slot > block.slot) at = at.parent;
  return at === block;
}

const later = (a: Block, b: Block): Block => (a.slot >= b.slot ? a : b);

function addTo(sets: Map<string, Set<Value>>, name: string, value: Value): void {
  const set = sets.get(name);
  if (set === undefined) sets.set(name, new Set([value]));
  else set.add(value);
}
