import { expect, it } from "vitest";
import {
  boxOf,
  land,
  principal,
  resigned,
  rest,
  sealerOf,
  signedTrade,
  startProcess,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";

const world = useSubmitWorld();

/** A process that has a settled trade in memory beside pending ones, and how often it has opened tokens since. */
async function settledTrade(pending = 0) {
  const sealer = sealerOf("07");
  let opened = 0;
  const counting = {
    ...sealer,
    open: (token: string, account: string) => {
      opened++;
      return sealer.open(token, account);
    },
  };
  const process = startProcess("a", undefined, counting);
  for (let i = 0; i < pending; i++) boxOf(process.submit(signedTrade()));
  const trade = signedTrade();
  const first = boxOf(process.submit(trade));
  await rest(10);
  land("a", trade.signature);
  await rest(10);
  opened = 0;
  return { process, trade, answer: first.value!, opened: () => opened };
}

it("the same bytes with the same token are answered from memory, byte for byte as before", async () => {
  const { process, trade, answer, opened } = await settledTrade();
  const copy = { ...trade, signedTransaction: trade.signedTransaction.slice() };
  expect(await process.submit(copy)).toEqual(answer);
  expect(opened()).toBe(0);
});

it("another account, key's wallet, token, signature or byte is checked like the first submit", async () => {
  const { process, trade, answer, opened } = await settledTrade();
  const stranger = { ...principal, accountId: "acc_2" };
  await expect(process.submit({ ...trade, principal: stranger })).rejects.toMatchObject({
    code: "INVALID_SUBMISSION_TOKEN",
  });
  const wallet = createTestWallet(new Uint8Array(32).fill(6)).address;
  await expect(process.submit({ ...trade, principal: { ...principal, wallet } })).rejects.toMatchObject({
    code: "WALLET_MISMATCH",
  });
  for (const [at, code] of [
    [1, "INVALID_SIGNATURE"],
    [100, "MESSAGE_MISMATCH"],
  ] as const) {
    const signedTransaction = trade.signedTransaction.slice();
    signedTransaction[at]! ^= 1;
    await expect(process.submit({ ...trade, signedTransaction })).rejects.toMatchObject({ code });
  }
  const other = signedTrade();
  await expect(process.submit({ ...trade, submissionToken: other.submissionToken })).rejects.toMatchObject({
    code: "MESSAGE_MISMATCH",
  });
  expect(await process.submit(resigned(trade))).toEqual(answer);
  expect(opened()).toBe(6);
});

it("what another process has reported as finalized is never reported as less from memory", async () => {
  const { process, trade, answer } = await settledTrade();
  expect(answer.status).toBe("confirmed");
  const found = await startProcess("b").find(principal, trade.signature);
  expect(found).toMatchObject({ status: "finalized" });
  expect(await process.submit(trade)).toEqual({ ...answer, status: "finalized" });
  world.submissions.isDown = true;
  expect(await process.submit(trade)).toEqual({ ...answer, status: "finalized" });
});

it("a trade that has ended is answered from memory, however many others are pending", async () => {
  const { process, trade, answer, opened } = await settledTrade(1_100);
  expect(await process.submit(trade)).toEqual(answer);
  expect(opened()).toBe(0);
  world.submissions.isDown = true;
  expect(await process.submit(trade)).toEqual(answer);
});
