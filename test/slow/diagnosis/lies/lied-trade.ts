import { randomFillSync } from "node:crypto";
import { vi } from "vitest";
import { createLanding } from "../../../../src/chain/landing/landing.ts";
import { createNodeSender } from "../../../../src/chain/landing/sender.ts";
import { createRpcPool } from "../../../../src/chain/rpc/rpc-pool.ts";
import { Witnesses } from "../../../../src/chain/rpc/witnesses.ts";
import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import { hex } from "../../../../src/primitives/bytes.ts";
import { createRandom } from "../../../../src/primitives/random.ts";
import { createTokenSealer } from "../../../../src/trade/build/token/submission-token.ts";
import { createSubmitter } from "../../../../src/trade/submit/submit-trade.ts";
import type { SubmittedTrade } from "../../../../src/trade/trade.ts";
import { fakeSubscriptions } from "../../../support/fake-chain.ts";
import { createMemorySubmissions } from "../../../support/memory-submissions.ts";
import { signedTrade, wallet } from "./signed-trade.ts";
import { drawHonest, drawLiar, drawTruth, type Story, withSilence } from "./stories.ts";
import {
  type Fate,
  FEE,
  FINAL_AFTER,
  FIRST_HEIGHT,
  FIRST_SLOT,
  type Heights,
  INPUT,
  OUTPUT,
  SLOT_MS,
  ToldNode,
} from "./told-node.ts";

/** Blocks in which the message can land, and slots for which it is watched afterwards. */
const LIFE = 150;
const WATCHED = FINAL_AFTER + 130;
/** Slots between two looks at the trade. */
const LOOK_EVERY = 11;
const STEP_MS = 200;

/** How a case went: what the service said that was false, and whether it said how the trade ended. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly isDecided: boolean;
}

/** Submits one trade to the service's own landing and submit code, over nodes of which one lies. Needs fake timers. */
export async function runLies(seed: number, nodes: number): Promise<Verdict> {
  const random = createRandom(seed);
  const startMs = Date.now();
  const heights: Heights = {
    get slot() {
      return Math.floor((Date.now() - startMs) / SLOT_MS);
    },
    heightAt: (slot) => FIRST_HEIGHT + slot,
  };
  const { trade, sealed } = signedTrade(FIRST_HEIGHT + LIFE);
  const submitted = Number(random.between(1n, random.chance(0.3) ? BigInt(LIFE + 100) : 20n));
  const moments = { submitted, last: LIFE };
  const truth = drawTruth(random, moments);
  const liar = Number(random.below(BigInt(nodes)));
  const away = nodes > 2 && random.chance(0.3) ? (liar + 1) % nodes : undefined;
  const stories = Array.from({ length: nodes }, (_, i) => {
    if (i === liar) return drawLiar(random, truth, moments);
    const story = drawHonest(random, truth, moments);
    return i === away ? withSilence(random, story, moments) : story;
  });
  const toldBy = (story: Story) => () => story.findLast(({ from }) => heights.slot >= from)!.told;
  const endpoints = stories.map((story, i) => new ToldNode(`node ${i}`, heights, trade, toldBy(story)));
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  // Of two nodes, one may have misled what is known of heights.
  const misled = nodes === 2 && random.chance(0.3) ? BigInt(random.pick([-48, -8, 8, 48, 300, 2_000])) : 0n;
  const head = {
    blockHeight: () => BigInt(heights.heightAt(heights.slot - 1)) + misled,
    slot: () => BigInt(FIRST_SLOT + heights.slot - 1),
    slotMs: () => SLOT_MS,
  };
  const shared = { now: Date.now, warn: () => {} };
  const landing = createLanding({
    ...shared,
    pool,
    head,
    witnesses: new Witnesses({ ...shared, pool }),
    senders: endpoints.map((endpoint, i) => createNodeSender(endpoint, i, shared)),
    subscriptions: fakeSubscriptions(),
    monotonicMs: Date.now,
    random: () => 0.5,
  });
  const keys = [{ id: "k", secret: hex("07".repeat(32)), seals: true }];
  const sealer = createTokenSealer({ keys, genesisHash: "virtual", now: Date.now, fillRandom: randomFillSync });
  const submitter = createSubmitter({
    ...shared,
    sealer,
    landing,
    submissions: createMemorySubmissions(Date.now),
    venues: [],
    monotonicMs: Date.now,
    owner: "a",
    settings: { answerMs: 25_000, historyMs: 86_400_000, leaseMs: 5_000, claimTimeoutMs: 50 },
  });
  const judge = new Judge(truth, heights);
  const principal = { accountId: "acc", keyId: "key", wallet: wallet.address };
  const submissionToken = sealer.seal(sealed, principal.accountId);
  const hear = (answer: Promise<SubmittedTrade>) =>
    void answer.then(
      (said) => judge.hear(said),
      (error) => judge.hearError(error),
    );
  const [{ signature, transaction: signedTransaction }] = trade.forms;
  const until = Math.max(submitted, LIFE) + WATCHED;
  await vi.advanceTimersByTimeAsync(submitted * SLOT_MS);
  hear(submitter.submit({ principal, submissionToken, signedTransaction }));
  let looked = submitted;
  for (let end = until; heights.slot < end; ) {
    await vi.advanceTimersByTimeAsync(STEP_MS);
    // Finality comes later than the answer, and may be said too early.
    if (judge.isDecided) end = Math.min(end, heights.slot + FINAL_AFTER + LOOK_EVERY, until);
    if (heights.slot < looked + LOOK_EVERY) continue;
    looked = heights.slot;
    hear(submitter.find(principal, signature));
  }
  await submitter.close();
  landing.close();
  vi.clearAllTimers();
  return { faults: judge.faults, isDecided: judge.isDecided };
}

/** Holds what the service says of a trade against how it truly ends. */
class Judge {
  readonly faults: string[] = [];
  isDecided = false;
  readonly #truth: Fate;
  readonly #heights: Heights;

  constructor(truth: Fate, heights: Heights) {
    this.#truth = truth;
    this.#heights = heights;
  }

  hear({ status, slot, result, costs }: SubmittedTrade): void {
    const { slot: landed, error } = this.#truth;
    const says = `${status} in ${slot}, ${result?.inAmount} for ${result?.outAmount}`;
    if (status === "pending" || status === "processed") return;
    this.isDecided ||= result !== undefined;
    const isTrue = landed !== undefined && error === null && slot === BigInt(FIRST_SLOT + landed);
    const isExact = result?.inAmount === BigInt(INPUT) && result.outAmount === BigInt(OUTPUT);
    const isPaid = costs.baseFee + costs.priorityFee === BigInt(FEE);
    if (!isTrue || (result !== undefined && !(isExact && isPaid))) this.#note(says);
    else if (status === "finalized" && this.#heights.slot < landed + FINAL_AFTER) this.#note(`${says}, too early`);
  }

  hearError(error: unknown): void {
    if (!(error instanceof TradewireError)) throw error;
    const { code, facts } = error;
    this.isDecided = true;
    const { slot: landed, error: failure, form } = this.#truth;
    const says = `${code}, safe to rebuild: ${facts.safeToRebuild}`;
    if (code === "OUTCOME_UNKNOWN") return;
    if (code === "TX_EXPIRED") {
      const isOver = this.#heights.slot > LIFE;
      if (!isOver || (landed !== undefined && (form === 0 || facts.safeToRebuild === true))) this.#note(says);
    } else if (landed === undefined || failure === null || Number(facts.details?.slot) !== FIRST_SLOT + landed)
      this.#note(`${says}, in ${facts.details?.slot}`);
    else if (facts.details?.finalized === true && this.#heights.slot < landed + FINAL_AFTER)
      this.#note(`${says}, final too early`);
  }

  #note(says: string): void {
    this.faults.push(`${says}; in truth ${JSON.stringify(this.#truth)}`);
  }
}
