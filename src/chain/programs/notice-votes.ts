import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { DeployedProgram } from "../port.ts";
import type { DeployVote, ProgramReader } from "./program-reader.ts";

interface NoticeVotesOptions {
  readonly reader: Pick<ProgramReader, "fetchDeployVotes">;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Asks for another stream. */
  readonly doubt: () => void;
  /** Host of the stream in use. */
  readonly host: () => string | undefined;
  /** Receives the deploy slot that counts. */
  readonly settle: (id: Address, slot: bigint) => void;
  /** Pause before nodes that are behind a notice are asked again. Milliseconds. */
  readonly pauseMs?: number;
}

/** A deployment that the stream has reported, and the slot of its notice. */
interface Claim {
  readonly program: DeployedProgram;
  readonly deploySlot: bigint;
  readonly at: bigint;
}

/** Nodes that must agree against a stream. */
const QUORUM = 2;
/** How long a stream that two nodes contradicted is believed only if a node confirms it. Milliseconds. */
const ASIDE_MS = 3_600_000;
/** Time that nodes have to reach the slot of a notice; after that, what they agree on counts. Milliseconds. */
const PATIENCE_MS = 10_000;
const DEFAULT_PAUSE_MS = 400;
/** Pause between two rounds of votes about one program, while the stream is set aside. Milliseconds. */
const ROUND_MS = 1_000;

/**
 * What a stream reports of a deployment, held against the nodes. A notice counts at once, so that nothing is traded on a replaced
 * program, and two nodes that agree on another deployment, at the notice's slot or later, outvote it. From then on the stream's notices
 * count only once a node confirms them. With one node there is no vote.
 */
export class NoticeVotes {
  readonly #options: NoticeVotesOptions;
  /** Programs being voted on, each with the claim that came last. */
  readonly #pending = new Map<Address, Claim>();
  #asideUntilMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: NoticeVotesOptions) {
    this.#options = options;
  }

  /** Takes in a notice that differs from what is known. Never throws. */
  receive(program: DeployedProgram, deploySlot: bigint, at: bigint): void {
    if (!this.#isAside) this.#options.settle(program.id, deploySlot);
    const isPending = this.#pending.has(program.id);
    this.#pending.set(program.id, { program, deploySlot, at });
    if (!isPending) void this.#vote(program.id);
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  get #isAside(): boolean {
    return this.#options.now() < this.#asideUntilMs;
  }

  /** Votes on the last claim about a program, and on those that come meanwhile. */
  async #vote(id: Address): Promise<void> {
    const { now, pauseMs = DEFAULT_PAUSE_MS } = this.#options;
    let startedMs = now();
    while (!this.#isClosed) {
      const claim = this.#pending.get(id)!;
      const isLate = now() - startedMs >= PATIENCE_MS;
      const votes = await this.#options.reader.fetchDeployVotes(claim.program).catch(() => []);
      if (this.#isClosed) return;
      const verdict = votes && verdictOn(claim, votes, isLate);
      if (votes !== undefined && verdict === undefined && !isLate) {
        await this.#pause(pauseMs);
        continue;
      }
      // Without a verdict a notice counts that did not count at once: what may be replaced is not traded on.
      if (verdict !== undefined || this.#isAside) this.#options.settle(id, verdict ?? claim.deploySlot);
      if (verdict !== undefined && verdict !== claim.deploySlot) {
        this.#setAside(claim, verdict);
        await this.#pause(ROUND_MS);
      }
      if (votes !== undefined && this.#pending.get(id) !== claim) {
        startedMs = now();
        continue;
      }
      this.#pending.delete(id);
      return;
    }
  }

  #setAside({ program, deploySlot }: Claim, slot: bigint): void {
    const { now, warn, doubt, host } = this.#options;
    const isKnown = this.#isAside;
    this.#asideUntilMs = now() + ASIDE_MS;
    if (isKnown) return;
    warn(
      `The stream of ${host() ?? "a Solana node"} reports that program ${program.id} was deployed at slot ${deploySlot}, two nodes say ${slot}: ` +
        `its notices of programs count only if a node confirms them, for ${ASIDE_MS / 60_000} minutes.`,
    );
    doubt();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * The deploy slot that the nodes decide for; undefined: they do not, or not yet. One node may be the stream's own: it confirms a notice
 * only if no node that answers has yet to reach the notice's slot, or they have had their time.
 */
function verdictOn({ deploySlot, at }: Claim, votes: readonly DeployVote[], isLate: boolean): bigint | undefined {
  const confirming = votes.filter(({ slot }) => slot === deploySlot).length;
  const counts = new Map<bigint, number>();
  for (const vote of votes) {
    if (vote.slot === undefined || vote.slot === deploySlot || (vote.at < at && !isLate)) continue;
    const count = (counts.get(vote.slot) ?? 0) + 1;
    if (count >= QUORUM && count > confirming) return vote.slot;
    counts.set(vote.slot, count);
  }
  const isConfirmed = confirming >= QUORUM || (confirming > 0 && (isLate || confirming === votes.length));
  return isConfirmed ? deploySlot : undefined;
}
