import type { Now } from "../../../primitives/clock.ts";
import { minOf } from "../../../primitives/integer.ts";
import type { Lifetime } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RecentBlockhashes } from "../head-answers.ts";

/** Blockhashes remembered per node: more than it names and lists while another node catches up with it. */
const MAX_NAMED = 256;
/** Number of the newest entries of a node's list that must include one which the other node has named. */
const NEWEST_PLACES = 12;
/** Slots by which the list that a node reads may be later, or earlier, than the slot it names. */
const READ_LATER_SLOTS = 2n;
const READ_EARLIER_SLOTS = 1n;

/** The blockhashes that a node named, with their slots, oldest first, and the lowest of these slots. */
interface Named {
  readonly slots: Map<string, bigint>;
  first: bigint;
}

/** A node's list, and when its slot last changed (epoch milliseconds). */
interface Listed {
  readonly list: RecentBlockhashes;
  readonly sinceMs: number;
}

/**
 * Which blockhashes each node has named, and which of them other nodes came to know. A node that is some slots behind does not know
 * another's newest blockhash yet, but confirms it once it gets there. One that names slots ahead of the chain, with blockhashes of its own,
 * is not borne out.
 */
export class BlockhashRecord {
  readonly #now: Now;
  readonly #stuckAfterMs: number;
  readonly #named = new Map<RpcEndpoint, Named>();
  readonly #listed = new Map<RpcEndpoint, Listed>();

  /** @param stuckAfterMs time at one slot after which a node's list no longer counts. Milliseconds */
  constructor(now: Now, stuckAfterMs: number) {
    this.#now = now;
    this.#stuckAfterMs = stuckAfterMs;
  }

  /** Notes that a node names a blockhash as that of the slot. */
  noteNamed(from: RpcEndpoint, { blockhash, slot }: Pick<Lifetime, "blockhash" | "slot">): void {
    let named = this.#named.get(from);
    if (named === undefined) {
      named = { slots: new Map(), first: slot };
      this.#named.set(from, named);
    }
    const { slots } = named;
    const key = keyOf(blockhash);
    // Kept under the oldest slot it was named with: the slot computed from a list is later if slots were skipped.
    const known = slots.get(key);
    if (known === undefined || slot < known) slots.set(key, slot);
    named.first = minOf(named.first, slot);
    if (slots.size > MAX_NAMED) slots.delete(slots.keys().next().value!);
  }

  /** Notes the list of a node's newest blockhashes. */
  noteList(endpoint: RpcEndpoint, list: RecentBlockhashes): void {
    const known = this.#listed.get(endpoint);
    const sinceMs = known !== undefined && known.list.readAt >= list.readAt ? known.sinceMs : this.#now();
    this.#listed.set(endpoint, { list, sinceMs });
    for (const [place, blockhash] of list.blockhashes.entries())
      this.noteNamed(endpoint, { blockhash, slot: list.readAt - BigInt(place) });
  }

  /**
   * True if the other node keeps listing new blockhashes, but none that this node has named as that of its slot, although this node had
   * named some by then.
   */
  isWanting(from: RpcEndpoint, other: RpcEndpoint): boolean {
    const listed = this.#listed.get(other);
    if (listed === undefined || this.#now() - listed.sinceMs > this.#stuckAfterMs) return false;
    const { readAt, blockhashes } = listed.list;
    const named = this.#named.get(from);
    if (named === undefined || readAt < named.first + BigInt(NEWEST_PLACES)) return false;
    return !blockhashes.slice(0, NEWEST_PLACES).some((blockhash, place) => {
      const slot = named.slots.get(keyOf(blockhash));
      if (slot === undefined || slot > readAt + READ_EARLIER_SLOTS) return false;
      return BigInt(place) <= readAt - slot + READ_LATER_SLOTS;
    });
  }
}

const keyOf = (blockhash: Uint8Array) => Buffer.from(blockhash).toString("latin1");
