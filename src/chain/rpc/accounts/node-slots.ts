import type { Now } from "../../../primitives/clock.ts";
import { compareIntegers } from "../../../primitives/integer.ts";
import { asContext } from "../rpc-values.ts";

/** How long a node's answer counts, and how long its newest slot outweighs an older one that it names later. Milliseconds. */
const SPOKE_LATELY_MS = 3_000;
const STANDS_MS = 1_000;
/** With fewer nodes, no other can confirm the one that is ahead. */
const LEAST_NODES = 3;
const NEEDED = 2;

interface Claim {
  readonly slot: bigint;
  /** When the node was asked, and when its answer was read: the node was at this slot at some moment in between. */
  readonly askedAtMs: number;
  readonly atMs: number;
}

/**
 * The newest slot that each node has answered from. A node that names slots which the chain has not reached would make everything known
 * look old. So with three or more nodes that answer, a slot counts as existing only if two of them have reached it.
 */
export class NodeSlots {
  readonly #now: Now;
  readonly #claims = new Map<object, Claim>();

  constructor(now: Now) {
    this.#now = now;
  }

  /**
   * Notes the slot of a node's answer, if it concerns the current state of accounts.
   * @param askedAtMs absent: just now
   */
  noteAnswer(node: object, method: string, params: readonly unknown[], result: unknown, askedAtMs = this.#now()): void {
    if (method !== "getMultipleAccounts") return;
    if ((params[1] as { readonly commitment?: unknown } | undefined)?.commitment !== "processed") return;
    try {
      this.note(node, asContext(result, "accounts").slot, askedAtMs);
    } catch {
      // The caller of the method reports the error.
    }
  }

  note(node: object, slot: bigint, askedAtMs = this.#now()): void {
    const atMs = this.#now();
    const known = this.#claims.get(node);
    if (known === undefined || slot >= known.slot || atMs - known.atMs > STANDS_MS)
      this.#claims.set(node, { slot, askedAtMs, atMs });
  }

  /**
   * The slot that two nodes have reached by now, extrapolated from their last answers at that pace.
   *
   * @param slotMs milliseconds per slot; 0 while unmeasured
   * @returns undefined if fewer than three nodes have answered lately: then any of them may be the only one that is right
   */
  reachedByTwo(slotMs: number): bigint | undefined {
    if (this.#claims.size < LEAST_NODES || slotMs <= 0) return undefined;
    const slots = this.#reached(slotMs, ({ atMs }) => atMs);
    return slots.length < LEAST_NODES ? undefined : slots[NEEDED - 1];
  }

  /**
   * The slots of two nodes by now: at most for the one that is ahead, at least for the one behind. Undefined unless exactly two have
   * answered lately: either may be right.
   */
  reachedByPair(slotMs: number): { readonly furthest: bigint; readonly least: bigint } | undefined {
    if (this.#claims.size < NEEDED || slotMs <= 0) return undefined;
    const [first, least, ...others] = this.#reached(slotMs, ({ atMs }) => atMs);
    if (first === undefined || least === undefined || others.length > 0) return undefined;
    // If this process reads an answer late, the chain has gone on meanwhile.
    const [furthest = first] = this.#reached(slotMs, ({ askedAtMs }) => askedAtMs);
    return { furthest, least };
  }

  /** The slots that the nodes which answered lately have reached by now, if they were there at that time; the furthest first. */
  #reached(slotMs: number, whenMs: (claim: Claim) => number): readonly bigint[] {
    const nowMs = this.#now();
    const slots: bigint[] = [];
    for (const claim of this.#claims.values()) {
      if (nowMs - claim.atMs > SPOKE_LATELY_MS) continue;
      slots.push(claim.slot + BigInt(Math.ceil(Math.max(0, nowMs - whenMs(claim)) / slotMs)));
    }
    return slots.sort((a, b) => compareIntegers(b, a));
  }
}
