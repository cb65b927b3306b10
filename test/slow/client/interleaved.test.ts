import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import bs58 from "bs58";
import { expect, test } from "vitest";
import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import { messageOf } from "../../../src/client/signature/wire-layout.ts";
import { TradeError } from "../../../src/client/trade-error.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { buildSample } from "./sample-builds.ts";

const ROUNDS = 15;
/** Trades of one client at once. */
const AT_ONCE = 4;
const VENUES = ["raydium_cpmm", "meteora_damm_v2", "orca_whirlpool", "pump_swap"];

async function plainBuild(random: Random): Promise<HonestBuild> {
  for (;;) {
    const build = await buildSample(random, random.pick(VENUES));
    if (build?.form === "plain" && build.order.swapMode === "exactIn") return build;
  }
}

/** Hands out the answers once all questions were asked, each to the question that the permutation names. */
class Exchange {
  readonly #asked = new Map<number, (answer: object) => void>();
  readonly #answers = new Map<number, object>();
  readonly #order: readonly number[];

  /** @param order whose answer each one gets */
  constructor(order: readonly number[]) {
    this.#order = order;
  }

  ask(index: number, answer: object, among: number): Promise<object> {
    this.#answers.set(index, answer);
    const got = new Promise<object>((resolve) => this.#asked.set(index, resolve));
    if (this.#asked.size === among) {
      // Late ones first, so that none comes in the order it was asked in.
      const present = [...this.#asked.keys()];
      const handed = this.#order.filter((one) => this.#answers.has(one));
      for (const [at, one] of present.reverse().entries()) this.#asked.get(one)!(this.#answers.get(handed[at]!)!);
    }
    return got;
  }
}

function shuffled(random: Random): number[] {
  const list = Array.from({ length: AT_ONCE }, (_, index) => index);
  for (let at = list.length - 1; at > 0; at--) {
    const other = Number(random.below(BigInt(at + 1)));
    [list[at], list[other]] = [list[other]!, list[at]!];
  }
  return list;
}

test("trades of one client at once sign nothing but their own builds, and believe nothing but their own outcomes", async () => {
  const random = createRandom(91);
  const seen = { own: 0, foreignBuild: 0, foreignOutcome: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const builds = await Promise.all(Array.from({ length: AT_ONCE }, () => plainBuild(random)));
    const building = new Exchange(shuffled(random));
    const submitting = new Exchange(shuffled(random));
    /** What each trade was answered with, and what was signed, by message. */
    const given = new Map<number, object>();
    const signed = new Map<string, string>();
    const toSign = () => [...given].filter(([index, answer]) => answer === answers[index]).length;
    const answers = builds.map(({ answer, wire }, index) => ({
      ...answer,
      unsignedTransaction: wire.slice(),
      submissionToken: String(index),
    }));
    const unary = async (method: DescMethodUnary, ...[, , , request]: unknown[]) => {
      let answer: object;
      if (method.name === "Submit") {
        const { submissionToken } = request as { submissionToken: string };
        const index = Number(submissionToken);
        const { inputAmountRaw, outputAmountRaw } = builds[index]!.answer.estimates!;
        const tradeResult = { inputAmount: 1, outputAmount: 1, inputAmountRaw, outputAmountRaw };
        const signature = signed.get(keyOf(builds[index]!.wire))!;
        const outcome = { ...builds[index]!.answer, signature, status: TradeStatus.FINALIZED, tradeResult };
        answer = await submitting.ask(index, outcome, toSign());
      } else {
        const index = Number((request as { maxPriorityCost: number }).maxPriorityCost) - 1;
        answer = await building.ask(index, answers[index]!, AT_ONCE);
        given.set(index, answer);
      }
      const none = { header: new Headers(), trailer: new Headers() };
      return {
        stream: false,
        method,
        service: method.parent,
        ...none,
        message: create(method.output, answer as never),
      };
    };
    const client = Tradewire.connect({
      baseUrl: "https://hostile.example",
      apiKey: "api_key",
      keepAliveMs: 0,
      transport: { unary } as unknown as Transport,
      wallet: {
        publicKey: builds[0]!.wallet,
        signMessageBytes(message) {
          const signature = createRandom(round * 100 + signed.size).bytes(64);
          signed.set(bs58.encode(message), bs58.encode(signature));
          return signature;
        },
      },
    });
    const outcomes = await Promise.all(
      builds.map(({ order, decimals }, index) => {
        const { inputMint, outputMint, swapMode, slippage } = order;
        const asked = { inputMint, outputMint, swapMode, slippage, amount: order.amount!, priority: "fast" } as const;
        // A cap of its own, far above any cost, tells the service whose call it is.
        const limits = { decimals, maxPriorityCost: index + 1 };
        return client.swap(asked, limits).catch((error: unknown) => error);
      }),
    );
    client.close();
    for (const [index, outcome] of outcomes.entries()) {
      const isOwnBuild = given.get(index) === answers[index];
      const signature = signed.get(keyOf(builds[index]!.wire));
      expect(signature !== undefined, "signed its own build, and no other").toBe(isOwnBuild);
      if (!(outcome instanceof TradeError)) {
        expect(outcome).toMatchObject({ signature, inputMint: builds[index]!.answer.inputMint });
        seen.own += 1;
      } else if (isOwnBuild) {
        expect(outcome).toMatchObject({ code: "UNEXPECTED_ANSWER", signature });
        seen.foreignOutcome += 1;
      } else {
        expect(outcome.code).toBe("UNEXPECTED_TRANSACTION");
        expect(outcome.signature).toBeUndefined();
        seen.foreignBuild += 1;
      }
    }
  }
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
});

/** The message of a wire transaction as a key. */
function keyOf(wire: Uint8Array): string {
  return bs58.encode(messageOf(wire));
}
