import { hash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import {
  boxOf,
  LEASE_MS,
  land,
  principal,
  rest,
  SLOT,
  sealerOf,
  signedTrade,
  startProcess,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";

const world = useSubmitWorld();

/** Claims the trade for a process that will not be heard of again, at this time and until its lease ends (epoch milliseconds). */
async function claimByLost(
  trade: ReturnType<typeof signedTrade>,
  claimedAtMs: number,
  untilMs = claimedAtMs,
): Promise<void> {
  const { signature, submissionToken, signedTransaction } = trade;
  await world.submissions.claim(
    {
      messageHash: hash("sha256", signedTransaction.subarray(65), "hex"),
      signature,
      accountId: principal.accountId,
      submissionToken,
      transaction: signedTransaction,
      lastValidBlockHeight: 150n,
      claimedAtMs,
    },
    { owner: "lost", untilMs },
  );
}

describe("a process that is lost", () => {
  it("has its submissions taken over when their leases expire, without a request", async () => {
    const trade = signedTrade();
    await claimByLost(trade, Date.now(), Date.now() + LEASE_MS);
    const b = startProcess("b");
    await rest(LEASE_MS - 1_000);
    expect(world.inFlight.size).toBe(0);
    await rest(2_100);
    expect(world.inFlight.get(`b ${trade.signature}`)?.order).toMatchObject({
      senders: ["rpc"],
      lastValidBlockHeight: 150n,
    });
    land("b", trade.signature);
    await rest(100);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
  });

  it("has all its submissions taken over at once, however many they are", async () => {
    const trades = Array.from({ length: 150 }, () => signedTrade());
    for (const trade of trades) await claimByLost(trade, 0);
    startProcess("b");
    await rest(1_100);
    expect(world.inFlight.size).toBe(trades.length);
  });

  it("has thousands taken over within seconds, although each statement of the database takes half of one", async () => {
    const trades = Array.from({ length: 1_500 }, () => signedTrade());
    for (const trade of trades) await claimByLost(trade, 0);
    const { abandoned, claim, takeOver } = world.submissions;
    const slow =
      <P extends unknown[], R>(statement: (...parameters: P) => Promise<R>) =>
      async (...parameters: P) => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        return statement(...parameters);
      };
    Object.assign(world.submissions, { abandoned: slow(abandoned), claim: slow(claim), takeOver: slow(takeOver) });
    startProcess("b");
    await rest(8_000);
    expect(world.inFlight.size).toBe(trades.length);
  });

  it("hands over at once if it shuts down cleanly", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    await a.close();
    startProcess("b");
    await rest(1_100);
    expect(world.inFlight.has(`b ${trade.signature}`)).toBe(true);
  });

  it("leaves readable submissions that unreadable ones do not hold up", async () => {
    const [foreign, readable] = [signedTrade(sealerOf("08")), signedTrade()];
    for (const trade of [foreign, readable]) await claimByLost(trade, 0);
    const warnings: string[] = [];
    startProcess("b", (message) => void warnings.push(message));
    await rest(10_000);
    expect([...world.inFlight.keys()]).toEqual([`b ${readable.signature}`]);
    expect(warnings).toHaveLength(1);
  });

  it("leaves readable submissions that any number of unreadable ones do not hold up, and few warnings", async () => {
    const foreign = sealerOf("08");
    for (let i = 0; i < 1_200; i++) await claimByLost(signedTrade(foreign), 0);
    const readable = signedTrade();
    await claimByLost(readable, 1);
    const warnings: string[] = [];
    startProcess("b", (message) => void warnings.push(message));
    await rest(10_000);
    expect([...world.inFlight.keys()]).toEqual([`b ${readable.signature}`]);
    expect(warnings.length).toBeLessThanOrEqual(1_024);
  });

  it("has a submission followed once by a process that takes it over while a caller submits it there", async () => {
    const trade = signedTrade();
    await claimByLost(trade, 0);
    const { takeOver } = world.submissions;
    const b = startProcess("b");
    let joined: ReturnType<typeof boxOf> | undefined;
    vi.spyOn(world.submissions, "takeOver").mockImplementationOnce(async (...parameters) => {
      const taken = await takeOver(...parameters);
      joined = boxOf(b.submit(trade));
      await new Promise((resolve) => setTimeout(resolve, 50));
      return taken;
    });
    await rest(1_500);
    expect(joined).toBeDefined();
    land("b", trade.signature);
    vi.spyOn(world.submissions, "finish").mockRejectedValue(new Error("refused"));
    await rest(3_000);
    expect(joined!.value).toMatchObject({ status: "confirmed", slot: SLOT });
  });
});

it("a process that no node answers loses its submissions to one whose nodes answer, and takes over nothing", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const [first, second] = [signedTrade(), signedTrade()];
  boxOf(a.submit(first));
  boxOf(b.submit(second));
  await rest(10);
  world.cutOff.add("a");
  await rest(LEASE_MS + 1_100);
  expect([...world.inFlight.keys()]).toContain(`b ${first.signature}`);
  await b.close();
  await rest(1_100);
  expect([...world.inFlight.keys()]).not.toContain(`a ${second.signature}`);
  world.cutOff.clear();
  await rest(1_100);
  expect([...world.inFlight.keys()]).toContain(`a ${second.signature}`);
});
