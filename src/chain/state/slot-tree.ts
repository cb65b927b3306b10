/** What news of a slot changed. */
interface SlotTurn {
  /** Slots that joined the chain or left it, apart from a new head that simply follows the old one. */
  readonly turned: readonly bigint[];
  /** True when slots between were never told of: something was lost. */
  readonly isGap: boolean;
}

const NOTHING: SlotTurn = { turned: [], isGap: false };
/** A node that never tells of roots does not make this grow without end. Slots. */
const MOST_UNROOTED = 512n;

/**
 * Which slots are part of the chain: the newest slot and its ancestors, as far as they have been told of. Several branches may
 * live side by side until one is rooted; the branch of the newest slot that is not dead, and is not cut off by a confirmed
 * slot, is the chain.
 */
export class SlotTree {
  /** Of every slot told of above the root. */
  readonly #parents = new Map<bigint, bigint>();
  readonly #dead = new Set<bigint>();
  /** The head and its known ancestors. */
  #chain = new Set<bigint>();
  #head = 0n;
  /** The first ancestor of the head that is not known: nothing at or below it can be told apart. */
  #floor = 0n;
  /** Where knowledge began: the parent of the first slot told of. */
  #origin: bigint | undefined;
  #root = 0n;
  #confirmed = 0n;

  /** The newest slot of the chain; 0 before the first. */
  get head(): bigint {
    return this.#head;
  }

  get root(): bigint {
    return this.#root;
  }

  has(slot: bigint): boolean {
    return this.#parents.has(slot) || slot <= this.#root;
  }

  /** False only where the slot is known to be off the chain: dead, or on a branch that was not taken. */
  isOnChain(slot: bigint): boolean {
    // Above the head, what has been told of is there because its branch was passed over.
    if (slot > this.#head) return !this.#dead.has(slot) && !this.#parents.has(slot);
    if (slot <= this.#floor) return !this.#dead.has(slot);
    return this.#chain.has(slot);
  }

  /** A slot has begun on its parent. A second parent for the same slot takes the place of the first. */
  begin(slot: bigint, parent: bigint): SlotTurn {
    if (slot <= this.#root || parent >= slot || this.#dead.has(slot)) return NOTHING;
    const known = this.#parents.get(slot);
    if (known === parent) return NOTHING;
    this.#origin ??= parent;
    const isGap = parent > this.#origin && !this.has(parent);
    this.#parents.set(slot, parent);
    if (known !== undefined) return { turned: this.#elect(), isGap };
    if (slot <= this.#head) return { turned: [], isGap };
    if (parent === this.#head && this.#chain.size > 0) {
      this.#head = slot;
      this.#chain.add(slot);
      if (slot - this.#root > 2n * MOST_UNROOTED) this.rootAt(slot - MOST_UNROOTED);
      return { turned: [], isGap };
    }
    return { turned: this.#elect().filter((one) => one !== slot), isGap };
  }

  /** A slot has failed: neither it nor anything on it will ever be part of the chain. */
  kill(slot: bigint): readonly bigint[] {
    if (slot <= this.#root || this.#dead.has(slot)) return [];
    this.#dead.add(slot);
    const turned = this.#elect();
    return turned.includes(slot) ? turned : [...turned, slot];
  }

  /** The network has voted for a slot: branches that do not contain it are not the chain. */
  confirm(slot: bigint): readonly bigint[] {
    if (slot <= this.#confirmed) return [];
    this.#confirmed = slot;
    return this.#chain.has(slot) || !this.#parents.has(slot) ? [] : this.#elect();
  }

  /** A slot is final, with all its ancestors. Older slots can be forgotten once this has been called. */
  rootAt(slot: bigint): void {
    if (slot <= this.#root || slot > this.#head) return;
    this.#root = slot;
    for (const known of this.#parents.keys()) if (known < slot) this.#parents.delete(known);
    for (const known of this.#chain) if (known < slot) this.#chain.delete(known);
    for (const known of this.#dead) if (known < slot) this.#dead.delete(known);
    if (this.#floor < slot) this.#floor = slot;
    if (this.#origin !== undefined && this.#origin < slot) this.#origin = slot;
  }

  /** What follows has no known connection with what was: as after a lost connection. */
  restart(): void {
    this.#origin = undefined;
  }

  /** Finds the head anew, and answers which slots joined the chain or left it. */
  #elect(): readonly bigint[] {
    const before = this.#chain;
    const candidates = [...this.#parents.keys()].sort((a, b) => (a < b ? 1 : -1));
    let chosen = candidates.map((slot) => this.#branchOf(slot)).find((branch) => branch !== undefined);
    // Nothing left that lives: the root is the head.
    chosen ??= { slots: new Set<bigint>(), floor: this.#root };
    this.#chain = chosen.slots;
    this.#floor = chosen.floor;
    this.#head = chosen.slots.values().next().value ?? chosen.floor;
    const turned: bigint[] = [];
    for (const slot of before) if (!this.#chain.has(slot)) turned.push(slot);
    for (const slot of this.#chain) if (!before.has(slot)) turned.push(slot);
    return turned;
  }

  /** A slot and its known ancestors, newest first; undefined when one is dead or the confirmed slot is passed by. */
  #branchOf(slot: bigint): { readonly slots: Set<bigint>; readonly floor: bigint } | undefined {
    const slots = new Set<bigint>();
    let at = slot;
    for (let parent = this.#parents.get(at); parent !== undefined; parent = this.#parents.get(at)) {
      if (this.#dead.has(at)) return undefined;
      slots.add(at);
      at = parent;
    }
    if (this.#dead.has(at)) return undefined;
    const passes = this.#parents.has(this.#confirmed) && this.#confirmed > at && !slots.has(this.#confirmed);
    return passes ? undefined : { slots, floor: at };
  }
}
