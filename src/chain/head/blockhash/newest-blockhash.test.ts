import bs58 from "bs58";
import { expect, test } from "vitest";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import type { BlockHeights } from "../block-heights.ts";
import { NewestSlot } from "../newest-slot.ts";
import { NewestBlockhash } from "./newest-blockhash.ts";

/** Two nodes without lists of blockhashes. The first names what `name` says; the second knows it when its answer is let go. */
function world() {
  const endpoint = (name: string) =>
    ({
      name,
      doubt: () => {},
      silentForMs: () => 0,
      isCooling: () => false,
      isAside: () => false,
    }) as unknown as RpcEndpoint;
  const [a, b] = [endpoint("a"), endpoint("b")];
  let named = 0;
  const proofs: ((isKnown: boolean) => void)[] = [];
  const pool = {
    endpoints: [a, b],
    read: async (_method: string, _params: unknown, { onAnswer }: { onAnswer: (from: RpcEndpoint) => void }) => {
      onAnswer(a!);
      return {
        context: { slot: named },
        value: { blockhash: bs58.encode(new Uint8Array(32).fill(named)), lastValidBlockHeight: named + 150 },
      };
    },
    ask: (_: RpcEndpoint, method: string) =>
      method === "isBlockhashValid"
        ? new Promise((resolve) => proofs.push((value) => resolve({ context: { slot: 200 }, value })))
        : Promise.reject(new Error("refused")),
  } as unknown as RpcPool;
  const now = () => 1_000_000;
  const newest = new NewestSlot(now);
  newest.reset(100n);
  const heights = { fits: () => true } as unknown as BlockHeights;
  const name = (slot: number) => {
    named = slot;
  };
  const blockhash = new NewestBlockhash({ pool, now, warn: () => {}, newest, heights, maxAgeMs: 10_000 });
  return { blockhash, newest, proofs, name };
}

/** Lets what is under way go as far as it can. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a proof that was under way when the newest slot was taken back brings nothing, and ends no newer proof", async () => {
  const { blockhash, newest, proofs, name } = world();
  name(100);
  await blockhash.refresh();
  await settle();
  proofs.shift()!(true);
  await settle();
  expect(blockhash.lifetime?.slot).toBe(100n);

  name(130);
  await blockhash.refresh();
  await settle();
  await blockhash.comeBackTo(101n);
  name(102);
  await blockhash.refresh();
  await settle();
  expect(proofs.length).toBe(2);
  proofs[0]!(true);
  await settle();
  expect(blockhash.lifetime?.slot).toBe(100n);
  expect(newest.slot).toBe(100n);
  // The newer proof is still the one under way: no other is begun.
  await blockhash.refresh();
  await settle();
  expect(proofs.length).toBe(2);
  proofs[1]!(true);
  await settle();
  expect(blockhash.lifetime?.slot).toBe(102n);
});

test("one that is being proven while all is forgotten is not taken in", async () => {
  const { blockhash, proofs, name } = world();
  name(100);
  await blockhash.refresh();
  await settle();
  blockhash.forget();
  proofs[0]!(true);
  await settle();
  expect(blockhash.lifetime).toBeUndefined();
});
