import { compareIntegers, maxOf, minOf } from "../../../primitives/integer.ts";

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

/** Unknown slots, from the one after `above` on: a link is missing. */
interface Gap {
  readonly above: bigint;
  readonly upTo: bigint;
}

/** A line of slots down to the root, and where links of it are missing. */
interface Line {
  readonly slots: Set<bigint>;
  readonly gaps: readonly Gap[];
}

const NOTHING: SlotTurn = { turned: [], isGap: false };
/** Upper bound of unrooted slots, for a node that never reports roots. */
const MAX_UNROOTED = 512n;
/** Slots below the root that are still known to be on the chain or off it: long enough to drop every version of them. */
const REMEMBERED_SLOTS = 512n;

/**
 * Which slots are part of the chain: the newest slot and its known ancestors. Several branches may live side by side until one is rooted.
 * The chain is the branch of the newest slot that is neither dead nor cut off by a confirmed slot. If links are missing, it continues with
 * the newest such slot before the gap: slots that were passed over stay so.
 */
export class SlotTree {
  /** The parent of every known slot above the root. */
  readonly #parents = new Map<bigint, bigint>();
  readonly #dead = new Set<bigint>();
  /** The chain above the root. */
  #chain: Line = { slots: new Set(), gaps: [] };
  /** The chain at the root and below, down to the oldest remembered slot. */
  readonly #final = new Set<bigint>();
  #finalGaps: readonly Gap[] = [];
  #forgotten = 0n;
  #head = 0n;
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
    return this.#parents.size + this.#dead.size + this.#final.size;
  }

  get root(): bigint {
    return this.#root;
  }

  has(slot: bigint): boolean {
    return this.#parents.has(slot) || slot <= this.#root;
  }

  /** False only if the slot is known to be off the chain: dead, or on a branch that was not taken. */
  isOnChain(slot: bigint): boolean {
    if (slot <= this.#root) return this.#final.has(slot) || this.#mayBeFinal(slot);
    if (this.#chain.slots.has(slot)) return true;
    // A known slot above the head, or in a gap, is on a branch that was passed over.
    const isUnknown = slot > this.#head || isIn(this.#chain.gaps, slot);
    return isUnknown && !this.#dead.has(slot) && !this.#parents.has(slot);
  }

  #mayBeFinal(slot: bigint): boolean {
    return (slot <= this.#forgotten || isIn(this.#finalGaps, slot)) && !this.#dead.has(slot);
  }

  /**
   * A slot has begun on its parent. A second parent for the same slot replaces the first. None can begin on a slot before the root: a newer
   * slot that does shows that something was lost, or that finality was undone.
   */
  begin(slot: bigint, parent: bigint): SlotTurn {
    if (slot <= this.#root || parent >= slot || this.#dead.has(slot)) return NOTHING;
    if (parent < this.#root) return { turned: [], isGap: slot > this.#head };
    const known = this.#parents.get(slot);
    if (known === parent) return NOTHING;
    this.#origin ??= parent;
    const isGap = parent > this.#origin && !this.has(parent);
    this.#parents.set(slot, parent);
    if (known !== undefined) return { turned: this.#elect(), isGap };
    if (slot <= this.#head) return { turned: isIn(this.#chain.gaps, slot) ? this.#elect() : [], isGap };
    if (parent === this.#head && this.#chain.slots.size > 0) {
      this.#head = slot;
      this.#chain.slots.add(slot);
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
    let root = this.#root;
    const { slots, gaps } = this.#chain;
    // No loop over the slots in between: a node may name one far ahead as the next.
    for (const slot of [...slots, ...gaps.map(({ upTo }) => minOf(upTo, latest))])
      if (slot > root && slot <= latest && this.isOnChain(slot)) root = slot;
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
    return this.#chain.slots.has(slot) || !this.#parents.has(slot) ? [] : this.#elect();
  }

  /** A slot is final with all its ancestors; older slots are forgotten a while later. */
  rootAt(slot: bigint): void {
    if (slot <= this.#root || slot > this.#head) return;
    const { slots, gaps } = this.#lineTo(slot, this.#branches());
    for (const known of this.#parents.keys()) {
      if (known >= slot) continue;
      if (known > this.#root && !slots.has(known)) this.#dead.add(known);
      this.#parents.delete(known);
    }
    this.#root = slot;
    for (const final of [slot, ...slots]) this.#final.add(final);
    this.#forgotten = maxOf(this.#forgotten, slot - REMEMBERED_SLOTS);
    for (const old of [this.#final, this.#dead]) for (const one of old) if (one < this.#forgotten) old.delete(one);
    this.#finalGaps = [...gaps, ...this.#finalGaps].filter(({ upTo }) => upTo > this.#forgotten);
    for (const known of this.#chain.slots) if (known <= slot) this.#chain.slots.delete(known);
    const left = this.#chain.gaps.filter(({ upTo }) => upTo > slot);
    this.#chain = { ...this.#chain, gaps: left.map(({ above, upTo }) => ({ above: maxOf(above, slot), upTo })) };
    if (this.#origin !== undefined && this.#origin < slot) this.#origin = slot;
  }

  /** The slots that follow have no known link to those before, as after a lost connection. */
  restart(): void {
    this.#origin = undefined;
  }

  /** Chooses the head again; visits each known slot a few times. @returns the known slots that joined the chain or left it */
  #elect(): readonly bigint[] {
    const before = this.#chain.slots;
    const branches = this.#branches();
    let chosen: bigint | undefined;
    for (const [slot, branch] of branches) if (!branch.isDead && !this.#bypassesConfirmed(branch)) chosen = slot;
    // No branch is left alive: the root is the head.
    this.#head = chosen ?? this.#root;
    this.#chain = this.#lineTo(this.#head, branches);
    const { slots } = this.#chain;
    return [...[...before].filter((slot) => !slots.has(slot)), ...[...slots].filter((slot) => !before.has(slot))];
  }

  /** The branch of every known slot above the root, oldest first. */
  #branches(): ReadonlyMap<bigint, Branch> {
    const branches = new Map<bigint, Branch>();
    for (const slot of [...this.#parents.keys()].sort(compareIntegers))
      if (slot > this.#root) branches.set(slot, this.#branchOf(slot, branches));
    return branches;
  }

  /** The line from a slot down to the root. */
  #lineTo(slot: bigint, branches: ReadonlyMap<bigint, Branch>): Line {
    const slots = new Set<bigint>();
    const gaps: Gap[] = [];
    let next = slot;
    for (const [known, branch] of [...branches].reverse()) {
      if (known > next) continue;
      if (known < next) {
        const isCutOff = branch.floor < this.#root || (this.#confirmed <= next && this.#bypassesConfirmed(branch));
        if (branch.isDead || isCutOff) continue;
        gaps.push({ above: known, upTo: next });
      }
      slots.add(known);
      next = this.#parents.get(known)!;
    }
    if (next > this.#root) gaps.push({ above: this.#root, upTo: next });
    return { slots, gaps };
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

const isIn = (gaps: readonly Gap[], slot: bigint): boolean =>
  gaps.some(({ above, upTo }) => slot > above && slot <= upTo);
