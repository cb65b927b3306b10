import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { DeployedProgram } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { DeployVote, ProgramReader } from "./program-reader.ts";

interface DeployVotesOptions {
  readonly reader: Pick<ProgramReader, "fetchDeployVotes">;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Sets aside a node that two others contradict, with the reason. */
  readonly contradict: (endpoint: RpcEndpoint, what: string) => void;
  /** Asks for another stream. */
  readonly doubt: () => void;
  /** Host of the stream in use. */
  readonly host: () => string | undefined;
  /** Receives the deploy slot that counts. */
  readonly settle: (id: Address, slot: bigint) => void;
  /** First pause before asking again nodes that are behind a notice or divided; each further one is longer. Milliseconds. */
  readonly pauseMs?: number;
}

/** A deployment that the stream or a node has reported, and the slot of its notice or state. */
interface Claim {
  readonly program: DeployedProgram;
  readonly deploySlot: bigint;
  readonly at: bigint;
  readonly isStreamed: boolean;
}

/** Nodes that must agree against a stream, or against another node. */
const QUORUM = 2;
/** How long, after two nodes contradicted a stream, its notices count only if a node confirms them. Milliseconds. */
const ASIDE_MS = 3_600_000;
/** Time that nodes have to reach the slot of a notice; after that, what they agree on counts. Milliseconds. */
const PATIENCE_MS = 10_000;
const DEFAULT_PAUSE_MS = 400;
/**
 * Factor by which each pause grows, and the longest pause as a multiple of the first: a lying node must not use up the others' rate limits.
 */
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE = 8;
/** Pause between two votes about one program while false claims are made about it. In pauses between two rounds of one vote. */
const PAUSES_AFTER_LIE = 2.5;
/** Pause between two log lines that say that nodes are divided about a program. Milliseconds. */
const REPEAT_WARNING_MS = 600_000;

/**
 * What a stream or a node reports about a deployment, checked against all nodes. A stream's notice counts at once, so that nothing is
 * traded on a replaced program, and two nodes that agree on another deployment, at the notice's slot or later, outvote it. From then on the
 * stream's notices count only once a node confirms them. A single node's report counts once another agrees. If the nodes stay divided, the
 * later deployment counts, which withholds the markets of that program. With one node there is no vote.
 */
export class DeployVotes {
  readonly #options: DeployVotesOptions;
  /** Programs being voted on, each with its latest claim. */
  readonly #pending = new Map<Address, Claim>();
  /** When the log may say again that nodes are divided about a program. */
  readonly #saidUntilMs = new Map<Address, number>();
  #asideUntilMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Ends the pauses of waiting votes. */
  readonly #wakes = new Set<() => void>();

  constructor(options: DeployVotesOptions) {
    this.#options = options;
  }

  /** Handles a notice that differs from what is known. Never throws. */
  receive(program: DeployedProgram, deploySlot: bigint, at: bigint): void {
    if (!this.#isAside) this.#options.settle(program.id, deploySlot);
    const isPending = this.#pending.has(program.id);
    this.#pending.set(program.id, { program, deploySlot, at, isStreamed: true });
    if (!isPending) void this.#vote(program.id);
  }

  /** Handles one node's report, if it differs from what is known. Never throws. */
  check(program: DeployedProgram, deploySlot: bigint, at: bigint): void {
    if (this.#pending.has(program.id)) return;
    this.#pending.set(program.id, { program, deploySlot, at, isStreamed: false });
    void this.#vote(program.id);
  }

  close(): void {
    this.#isClosed = true;
    for (const wake of [...this.#wakes]) wake();
  }

  get #isAside(): boolean {
    return this.#options.now() < this.#asideUntilMs;
  }

  /** Votes on the latest claim about a program, and on those that arrive meanwhile. */
  async #vote(id: Address): Promise<void> {
    const { now, pauseMs = DEFAULT_PAUSE_MS } = this.#options;
    let startedMs = now();
    let pauses = 1;
    while (!this.#isClosed) {
      const claim = this.#pending.get(id)!;
      const isLate = now() - startedMs >= PATIENCE_MS;
      const votes = await this.#options.reader.fetchDeployVotes(claim.program).catch(() => []);
      if (this.#isClosed) return;
      const verdict = votes && verdictOn(claim, votes, isLate);
      if (votes !== undefined && verdict === undefined && !isLate) {
        await this.#pause(pauses * pauseMs);
        pauses = Math.min(LONGEST_PAUSE, pauses * PAUSE_GROWTH);
        continue;
      }
      // Without a verdict, a notice that did not count at once counts now: a program that may have been replaced is not traded on.
      if (verdict !== undefined || (this.#isAside && claim.isStreamed))
        this.#settle(claim, verdict, votes ?? [], isLate);
      else if (votes !== undefined)
        this.#judge(claim, claim.program.slot, votes, isLate, `slot ${claim.program.slot} counts still`);
      if (verdict !== undefined && verdict !== claim.deploySlot) await this.#pause(PAUSES_AFTER_LIE * pauseMs);
      if (this.#isClosed) return;
      if (votes !== undefined && this.#pending.get(id) !== claim) {
        startedMs = now();
        pauses = 1;
        continue;
      }
      this.#pending.delete(id);
      return;
    }
  }

  #settle(claim: Claim, verdict: bigint | undefined, votes: readonly DeployVote[], isLate: boolean): void {
    const slot = verdict ?? claim.deploySlot;
    this.#options.settle(claim.program.id, slot);
    const isAgreed = this.#judge(claim, slot, votes, isLate);
    if (isAgreed && claim.isStreamed && slot !== claim.deploySlot) this.#setAside(claim, slot);
  }

  /** Names the nodes that two others contradict. @returns false if the nodes are divided */
  #judge(
    { program: { id } }: Claim,
    slot: bigint,
    votes: readonly DeployVote[],
    isLate: boolean,
    doing = "its markets are withheld",
  ): boolean {
    const { contradict, now, warn } = this.#options;
    const agreed = votes.filter((vote) => vote.slot === slot);
    for (const { endpoint, at, slot: other } of votes) {
      // The node lags: its state is older than the deployment, and does not show a deployment from after that state.
      if (at < slot && (other ?? 0n) <= at) continue;
      const against = agreed.filter((vote) => vote.isTrusted || isLate || vote.at >= at);
      if (other === slot || (against.length < QUORUM && !against.some(({ isTrusted }) => isTrusted))) continue;
      contradict(
        endpoint,
        `it says that program ${id} was deployed at slot ${other ?? "none"}, the others say ${slot}`,
      );
    }
    const isAgreed = agreed.length >= QUORUM || agreed.length === votes.length || agreed.some((vote) => vote.isTrusted);
    if (isAgreed || now() < (this.#saidUntilMs.get(id) ?? Number.NEGATIVE_INFINITY)) return isAgreed;
    this.#saidUntilMs.set(id, now() + REPEAT_WARNING_MS);
    const said = votes.map((vote) => `${vote.endpoint.name} ${vote.slot ?? "none"}`).join(", ");
    warn(`Solana nodes disagree on the slot at which program ${id} was deployed (${said}): ${doing}.`);
    return false;
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
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wakes.add(wake);
    });
  }
}

/**
 * The deploy slot that the nodes decide on; undefined if they have not decided, or not yet. A single confirming node may be the stream's
 * own, or the one that made the claim: it counts only if every node that answers has reached the slot, or their time is up.
 */
function verdictOn(claim: Claim, votes: readonly DeployVote[], isLate: boolean): bigint | undefined {
  const { program, deploySlot, at, isStreamed } = claim;
  // A node can retract a known deployment only from a state that is late enough to show it.
  const isTakeBack = !isStreamed && deploySlot < program.slot;
  const counted =
    isTakeBack && !isLate ? votes.filter((vote) => vote.slot !== deploySlot || vote.at >= program.slot) : votes;
  const confirming = counted.filter(({ slot }) => slot === deploySlot).length;
  const counts = new Map<bigint, number>();
  for (const vote of counted) {
    const isInTime = isLate || vote.at >= at;
    if (vote.isTrusted && vote.slot !== undefined && (isInTime || vote.slot === deploySlot)) return vote.slot;
    if (vote.slot === undefined || vote.slot === deploySlot || !isInTime) continue;
    const count = (counts.get(vote.slot) ?? 0) + 1;
    if (count >= QUORUM && count > confirming) return vote.slot;
    counts.set(vote.slot, count);
  }
  if (confirming >= QUORUM || (confirming > 0 && confirming === votes.length)) return deploySlot;
  // Divided nodes: the later deployment may be the one that runs.
  const isWorse = isStreamed || deploySlot > program.slot;
  return confirming > 0 && isLate && isWorse ? deploySlot : undefined;
}
