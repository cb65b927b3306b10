import type { Now } from "../../../primitives/clock.ts";
import type { AccountReader } from "../../port.ts";

/** A node whose states of accounts are compared with the others'. */
export interface StateWitness {
  /** Host of the node, for the log. */
  readonly name: string;
  /** Reads from this node alone. */
  readonly reader: Pick<AccountReader, "fetchAccounts">;
  /** True if its word decides a contradiction. */
  readonly isTrusted?: boolean;
  /** The rest of the nodes contradicts it: it is not read from for that long unless all others fail. Milliseconds. */
  setAside(forMs: number): void;
}

/** How long a node that was contradicted does not count. Milliseconds. */
const ASIDE_MS = 10_000;
/** Silence after which a node no longer counts among those that must agree. Milliseconds. */
const SILENT_MS = 5_000;
/** Most concurrent calls per node. */
const MAX_CALLS_IN_FLIGHT = 4;

interface NodeState {
  readonly witness: StateWitness;
  inFlight: number;
  /** Epoch milliseconds. */
  answeredAtMs: number;
  asideUntilMs: number;
}

/** The nodes whose states are compared, which of them count now, and how many must agree. */
export class WitnessNodes {
  readonly #nodes: readonly NodeState[];
  readonly #now: Now;
  readonly #warn: (message: string) => void;

  constructor(witnesses: readonly StateWitness[], now: Now, warn: (message: string) => void) {
    this.#now = now;
    this.#warn = warn;
    this.#nodes = witnesses.map((witness) => ({
      witness,
      inFlight: 0,
      answeredAtMs: now(),
      asideUntilMs: Number.NEGATIVE_INFINITY,
    }));
  }

  get size(): number {
    return this.#nodes.length;
  }

  nameOf(node: number): string {
    return this.#nodes[node]!.witness.name;
  }

  /** True while the node is neither silent nor set aside. */
  counts(node: number): boolean {
    const { answeredAtMs, asideUntilMs } = this.#nodes[node]!;
    const atMs = this.#now();
    return atMs >= asideUntilMs && atMs - answeredAtMs < SILENT_MS;
  }

  isTrusted(node: number): boolean {
    return this.#nodes[node]!.witness.isTrusted === true;
  }

  /** How many must agree: more than half of those that count. */
  needed(): number {
    let counting = 0;
    for (let node = 0; node < this.#nodes.length; node++) if (this.counts(node)) counting += 1;
    return Math.floor(counting / 2) + 1;
  }

  /** The rest of the nodes contradicts this one; `what` it says goes to the log. */
  setAside(node: number, what: string): void {
    const state = this.#nodes[node]!;
    const { witness } = state;
    const atMs = this.#now();
    const isNew = atMs >= state.asideUntilMs;
    state.asideUntilMs = atMs + ASIDE_MS;
    witness.setAside(ASIDE_MS);
    if (isNew) this.#warn(`The Solana node ${witness.name} contradicts the others and is set aside: ${what}.`);
  }

  /** Nodes that take another call. */
  free(): readonly number[] {
    return this.#nodes.flatMap(({ inFlight }, node) => (inFlight < MAX_CALLS_IN_FLIGHT ? [node] : []));
  }

  /** One call of one node; undefined if it fails. */
  async ask(
    node: number,
    addresses: Parameters<AccountReader["fetchAccounts"]>[0],
  ): Promise<Awaited<ReturnType<AccountReader["fetchAccounts"]>> | undefined> {
    const state = this.#nodes[node]!;
    state.inFlight += 1;
    try {
      const answer = await state.witness.reader.fetchAccounts(addresses);
      state.answeredAtMs = this.#now();
      return answer;
    } catch {
      // A node that does not answer is ignored here; the reads that state depends on report the failure.
      return undefined;
    } finally {
      state.inFlight -= 1;
    }
  }
}
