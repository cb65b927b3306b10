import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { createBaseFee, type LiveBaseFee } from "./base-fee.ts";

/** A pool whose answers are the test's, each of the next node in turn; an error is thrown. */
function poolOf(answers: unknown[], nodes = 1) {
  const asked: { readonly method: string; readonly params: readonly unknown[] }[] = [];
  return {
    asked,
    endpoints: Array.from({ length: nodes }, (_, i) => fakeEndpoint({}, `node ${i}`)),
    async ask(_endpoint: RpcEndpoint, method: string, params: readonly unknown[]): Promise<unknown> {
      asked.push({ method, params });
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return { context: { slot: 1n }, value: answer };
    },
  };
}

describe("createBaseFee", () => {
  const head = { lifetime: () => ({ blockhash: new Uint8Array(32).fill(1), lastValidBlockHeight: 1n, slot: 1n }) };
  let warnings: string[];
  let fee: LiveBaseFee | undefined;
  const create = async (answers: unknown[], nodes?: number) => {
    const pool = poolOf(answers, nodes);
    fee = await createBaseFee({ pool, head, warn: (message) => warnings.push(message) });
    return { pool, fee };
  };
  beforeEach(() => {
    warnings = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    fee?.close();
    vi.useRealTimers();
  });

  it("is the chain's fee for a message with one signature, and follows it", async () => {
    const { pool, fee } = await create([7_000n, 9_000n]);
    expect(fee.lamports()).toBe(7_000n);
    const message = Buffer.from(pool.asked[0]!.params[0] as string, "base64");
    expect([pool.asked[0]!.method, message[1]]).toEqual(["getFeeForMessage", 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fee.lamports()).toBe(9_000n);
    expect(warnings).toEqual([]);
  });

  it("is zero if the chain charges nothing", async () => {
    expect((await create([0n])).fee.lamports()).toBe(0n);
  });

  it("is what most nodes say, and of two that are divided what was known", async () => {
    expect((await create([99_000_000n, 7_000n, 7_000n], 3)).fee.lamports()).toBe(7_000n);
    expect((await create([99_000_000n, 5_000n], 2)).fee.lamports()).toBe(5_000n);
    expect((await create([null, 7_000n, new NodeError("unreachable", "away")], 3)).fee.lamports()).toBe(7_000n);
  });

  it("stays unchanged while the node does not know the blockhash", async () => {
    const { fee } = await create([7_000n, null]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fee.lamports()).toBe(7_000n);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["a refusal", new NodeError("refused", "not served")],
    ["an answer that is not a number", "five thousand"],
    ["an implausible amount", 10n ** 12n],
  ])("falls back after %s, with one warning", async (_, answer) => {
    const { fee } = await create([answer, answer, answer]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(fee.lamports()).toBe(5_000n);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("5000 lamports are assumed");
  });
});
