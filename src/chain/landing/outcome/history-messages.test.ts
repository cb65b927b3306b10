import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { signTransfer } from "../../../../test/support/transfer.ts";
import { createTestWallet } from "../../../../test/support/wallet.ts";
import { wireLayout } from "../../../solana/message.ts";
import { NodeError } from "../../rpc/node-error.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { HistoryMessages } from "./history-messages.ts";

const wallet = createTestWallet(new Uint8Array(32).fill(5));
const transfers = Array.from({ length: 250 }, (_, i) =>
  signTransfer({ from: wallet, to: wallet.address, lamports: BigInt(i + 1), blockhash: new Uint8Array(32) }),
);
const signatures = transfers.map(({ signature }) => signature);
const hashes = transfers.map(({ transaction }) => hash("sha256", wireLayout(transaction).message, "buffer"));

/** A node that has these transactions and counts what it is asked for. */
function nodeWithAll() {
  const bytesOf = new Map(transfers.map(({ signature, transaction }) => [signature, transaction]));
  const node = { asked: 0, atOnce: 0, mostAtOnce: 0, fails: false };
  const endpoint = fakeEndpoint({
    getTransaction: async (signature: string) => {
      node.asked += 1;
      node.mostAtOnce = Math.max(node.mostAtOnce, ++node.atOnce);
      await Promise.resolve();
      node.atOnce -= 1;
      if (node.fails) throw new NodeError("unreachable", "no answer");
      return { transaction: [Buffer.from(bytesOf.get(signature)!).toString("base64"), "base64"] };
    },
  });
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  return { node, endpoint, bytesOf, messages: new HistoryMessages(pool) };
}

it("asks a node for each transaction once, however many searches need it, and for a hundred at a time", async () => {
  const { node, endpoint, messages } = nodeWithAll();
  const searches = Array.from({ length: 40 }, () => messages.hashesOf(endpoint, signatures));
  for (const found of await Promise.all(searches)) expect(found).toEqual(hashes);
  expect(await messages.hashesOf(endpoint, signatures.slice(7))).toEqual(hashes.slice(7));
  expect(node.asked).toBe(signatures.length);
  expect(node.mostAtOnce).toBeLessThanOrEqual(100);
});

it("asks again for what failed, and for nothing else", async () => {
  const { node, endpoint, messages } = nodeWithAll();
  await messages.hashesOf(endpoint, signatures.slice(0, 200));
  node.fails = true;
  await expect(messages.hashesOf(endpoint, signatures)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  node.fails = false;
  node.asked = 0;
  expect(await messages.hashesOf(endpoint, signatures)).toEqual(hashes);
  expect(node.asked).toBe(50);
});

it("believes no node that shows one transaction in place of another", async () => {
  const { endpoint, bytesOf, messages } = nodeWithAll();
  bytesOf.set(signatures[0]!, transfers[1]!.transaction);
  await expect(messages.hashesOf(endpoint, signatures)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  bytesOf.set(signatures[0]!, transfers[0]!.transaction);
  expect(await messages.hashesOf(endpoint, signatures)).toEqual(hashes);
});
