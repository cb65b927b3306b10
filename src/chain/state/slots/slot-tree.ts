/** What a new slot changes. */
interface SlotTurn {
  /** Slots that joined the chain or left it, except a new head that simply follows the old one. */
  readonly turned: readonly bigint[];
  /** True if slots in between were never reported: something was lost. */
  readonly isGap: boolean;
}

/** A slot and its known ancestors. */
interface Branch {
  /** The first unknown ancestor. */
  readonly floor: bigint;
  readonly isDead: boolean;
  readonly hasConfirmed: boolean;
}

const NOTHING: SlotTurn = { turned: [], isGap: false };
/** Upper bound of unrooted slots, for a node that never reports roots. */
const MAX_UNROOTED = 512n;
/** Slots below the root that are still known to be off the chain: long enough to drop every version of them. */
const REMEMBERED_SLOTS = 512n;

/**
 * Which slots are part of the chain: the newest slot and its known ancestors. Several branches may live side by side until one
 * is rooted. The chain is the branch of the newest slot that is neither dead nor cut off by a confirmed slot.
 */
export class SlotTree {
  /** The parent of every known slot above the root. */
  readonly #parents = new Map<bigint, bigint>();
  readonly #dead = new Set<bigint>();
  /** The head and its known ancestors. */
  #chain = new Set<bigint>();
  #head = 0n;
  /** The first unknown ancestor of the head: slots at or below it cannot be distinguished. */
  #floor = 0n;
  /** Where knowledge began: the parent of the first slot reported. */
  #origin: bigint | undefined;
  #root = 0n;
  #confirmed = 0n;

  /** The newest slot of the chain; 0 before the first. */
  get head(): bigint {
    return this.#head;
  }

  /** Slots held, each once for what it is known for. */
  get size(): number {
    return this.#parents.size + this.#dead.size;
  }

  get root(): bigint {
    return this.#root;
  }

  has(slot: bigint): boolean {
    return this.#parents.has(slot) || slot <= this.#root;
  }

  /** False only if the slot is known to be off the chain: dead, or on a branch that was not taken. */
  isOnChain(slot: bigint): boolean {
    // A known slot above the head is on a branch that was passed over.
    if (slot > this.#head) return !this.#dead.has(slot) && !this.#parents.has(slot);
    if (slot <= this.#floor) return !this.#dead.has(slot);
    return this.#chain.has(slot);
  }

  /** A slot has begun on its parent. A second parent for the same slot replaces the first. None can begin on one before the root. */
  begin(slot: bigint, parent: bigint): SlotTurn {
    if (slot <= this.#root || parent >= slot || parent < this.#root || this.#dead.has(slot)) return NOTHING;
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
      this.#bound();
      return { turned: [], isGap };
    }
    const turned = this.#elect().filter((one) => one !== slot);
    this.#bound();
    return { turned, isGap };
  }

  #bound(): void {
    if (this.#head - this.#root <= 2n * MAX_UNROOTED) return;
    const latest = this.#head - MAX_UNROOTED;
    let root = latest < this.#floor ? latest : this.#floor;
    while (this.#dead.has(root)) root -= 1n;
    // Not slot by slot: a node may name one far ahead as the next.
    for (const slot of this.#chain) if (slot > root && slot <= latest) root = slot;
    this.rootAt(root);
  }

  /** A slot has failed: neither it nor anything on it will ever be part of the chain. One far ahead of the chain is none. */
  kill(slot: bigint): readonly bigint[] {
    if (slot <= this.#root || slot > this.#head + MAX_UNROOTED || this.#dead.has(slot)) return [];
    this.#dead.add(slot);
    const turned = this.#elect();
    return turned.includes(slot) ? turned : [...turned, slot];
  }

  /** The network has voted for a slot: branches that do not contain it are not the chain. */
  confirm(slot: bigint): readonly bigint[] {
    if (slot <= this.#confirmed || slot > this.#head + MAX_UNROOTED) return [];
    this.#confirmed = slot;
    return this.#chain.has(slot) || !this.#parents.has(slot) ? [] : this.#elect();
  }

  /** A slot is final with all its ancestors; older slots are forgotten, those off the chain a while later. */
  rootAt(slot: bigint): void {
    if (slot <= this.#root || slot > this.#head) return;
    for (const known of this.#parents.keys()) {
      if (known >= slot) continue;
      if (!this.isOnChain(known)) this.#dead.add(known);
      this.#parents.delete(known);
    }
    this.#root = slot;
    for (const known of this.#chain) if (known < slot) this.#chain.delete(known);
    for (const known of this.#dead) if (known < slot - REMEMBERED_SLOTS) this.#dead.delete(known);
    if (this.#floor < slot) this.#floor = slot;
    if (this.#origin !== undefined && this.#origin < slot) this.#origin = slot;
  }

  /** The slots that follow have no known link to those before, as after a lost connection. */
  restart(): void {
    this.#origin = undefined;
  }

  /** Chooses the head again: each known slot is looked at once or twice. @returns the slots that joined the chain or left it */
  #elect(): readonly bigint[] {
    const before = this.#chain;
    const branches = new Map<bigint, Branch>();
    let chosen: bigint | undefined;
    for (const slot of [...this.#parents.keys()].sort((a, b) => (a < b ? -1 : 1))) {
      const branch = this.#branchOf(slot, branches);
      branches.set(slot, branch);
      if (!branch.isDead && !this.#bypassesConfirmed(branch)) chosen = slot;
    }
    this.#chain = new Set();
    for (let at = chosen; at !== undefined && branches.has(at); at = this.#parents.get(at)) this.#chain.add(at);
    // No branch is left alive: the root is the head.
    this.#head = chosen ?? this.#root;
    this.#floor = chosen === undefined ? this.#root : branches.get(chosen)!.floor;
    const turned: bigint[] = [];
    for (const slot of before) if (!this.#chain.has(slot)) turned.push(slot);
    for (const slot of this.#chain) if (!before.has(slot)) turned.push(slot);
    return turned;
  }

  /** @param older the branches that end in older slots */
  #branchOf(slot: bigint, older: ReadonlyMap<bigint, Branch>): Branch {
    const parent = this.#parents.get(slot)!;
    const before = older.get(parent) ?? { floor: parent, isDead: this.#dead.has(parent), hasConfirmed: false };
    return {
      floor: before.floor,
      isDead: before.isDead || this.#dead.has(slot),
      hasConfirmed: before.hasConfirmed || slot === this.#confirmed,
    };
  }

  #bypassesConfirmed({ floor, hasConfirmed }: Branch): boolean {
    return !hasConfirmed && this.#confirmed > floor && this.#parents.has(this.#confirmed);
  }
}
