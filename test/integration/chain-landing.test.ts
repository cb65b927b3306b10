import { afterAll, beforeAll, expect, test } from "vitest";
import { OWN_NODES } from "../../src/chain/landing/sender.ts";
import { LAMPORTS_PER_SOL } from "../../src/primitives/amount.ts";
import { eventually } from "../support/eventually.ts";
import { startFakeNode } from "../support/fake-node.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { signTransfer } from "../support/transfer.ts";
import { createTestWallet, type TestWallet } from "../support/wallet.ts";

const SLOT_MS = 100;
let sandbox: PacedSandbox;
let chain: LiveChain;
let wallet: TestWallet;

beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: SLOT_MS });
  chain = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [sandbox.wsUrl], now: sandbox.now });
  wallet = createTestWallet();
  await fund(wallet);
});
afterAll(async () => {
  chain?.close();
  await sandbox?.close();
});

async function fund({ address }: TestWallet): Promise<void> {
  await chain.pool.read("requestAirdrop", [address.toString(), 10_000_000_000]);
  await eventually(async () => {
    const { accounts } = await chain.reader.fetchAccounts([address]);
    expect(accounts[0]?.lamports).toBe(10_000_000_000n);
  });
}

const inMs = (ms: number) => sandbox.now() + ms;

test("the head follows the chain: slot time, height, clock, rent", async () => {
  await eventually(() => expect(Math.abs(chain.head.slotMs() - SLOT_MS)).toBeLessThan(10));
  const { lastValidBlockHeight, slot } = chain.head.lifetime();
  const height = chain.head.blockHeight();
  const left = lastValidBlockHeight - height;
  expect(left).toBeGreaterThan(130n);
  expect(left).toBeLessThanOrEqual(150n);
  expect(chain.head.slot()).toBeGreaterThan(slot);
  expect(chain.head.clock().slot).toBeGreaterThan(slot - 5n);
  expect(chain.head.rentExemption(165)).toBe(
    BigInt((await chain.pool.read("getMinimumBalanceForRentExemption", [165])) as number),
  );
});

test("a transfer lands, its record can be read, and landing it again gives the same result", async () => {
  const to = createTestWallet().address;
  const { blockhash, lastValidBlockHeight } = chain.head.lifetime();
  const signed = signTransfer({ from: wallet, to, lamports: LAMPORTS_PER_SOL, blockhash });
  const seen: bigint[] = [];
  const order = { ...signed, lastValidBlockHeight, deadlineMs: inMs(20_000), senders: [OWN_NODES] };
  const outcome = await chain.landing.land({
    ...order,
    onEvent: (event) => event.kind === "processed" && seen.push(event.slot),
  });
  if (outcome.kind !== "landed") throw new Error(outcome.kind);
  const { record } = outcome;
  expect(record.error).toBe(null);
  expect(seen.every((slot) => slot === record.slot)).toBe(true);
  const index = record.accounts.indexOf(to);
  expect(record.postBalances[index]! - record.preBalances[index]!).toBe(LAMPORTS_PER_SOL);
  expect(record.feeLamports).toBe(5_000n);

  const ofLanding = ["sendTransaction", "getSignatureStatuses", "getTransaction", "getBlockHeight", "isBlockhashValid"];
  const sentBefore = chain.calls(ofLanding);
  expect(await chain.landing.land(order)).toMatchObject({ kind: "landed", record });
  expect(chain.calls(ofLanding) - sentBefore).toBeLessThan(6);
  await eventually(async () =>
    expect((await chain.landing.fetchProgress(signed.signature))?.commitment).toBe("finalized"),
  );
});

test("a transaction that fails on the chain counts as landed, with its error", async () => {
  const { blockhash, lastValidBlockHeight } = chain.head.lifetime();
  const lamports = 1_000n * LAMPORTS_PER_SOL;
  const signed = signTransfer({ from: wallet, to: createTestWallet().address, lamports, blockhash });
  const outcome = await chain.landing.land({
    ...signed,
    lastValidBlockHeight,
    deadlineMs: inMs(20_000),
    senders: [OWN_NODES],
  });
  expect(outcome).toMatchObject({ kind: "landed", record: { error: { InstructionError: [0, { Custom: 1 }] } } });
});

test("a dead endpoint and one that never answers do not stop landing", async () => {
  const mute = await startFakeNode({ sendTransaction: () => {}, getSignatureStatuses: () => {} });
  const several = await connectChain({
    rpcUrls: [sandbox.rpcUrl, "http://127.0.0.1:1", mute.url],
    wsUrls: ["ws://127.0.0.1:1", sandbox.wsUrl],
    now: sandbox.now,
  });
  const { blockhash, lastValidBlockHeight } = several.head.lifetime();
  const signed = signTransfer({ from: wallet, to: createTestWallet().address, lamports: LAMPORTS_PER_SOL, blockhash });
  const outcome = await several.landing.land({
    ...signed,
    lastValidBlockHeight,
    deadlineMs: inMs(20_000),
    senders: [OWN_NODES],
  });
  expect(outcome).toMatchObject({ kind: "landed", record: { error: null } });
  several.close();
  await mute.close();
});

test("without any subscription, polling alone follows head and landing", async () => {
  const polled = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [], now: sandbox.now });
  const { blockhash, lastValidBlockHeight } = polled.head.lifetime();
  const signed = signTransfer({ from: wallet, to: createTestWallet().address, lamports: LAMPORTS_PER_SOL, blockhash });
  const outcome = await polled.landing.land({
    ...signed,
    lastValidBlockHeight,
    deadlineMs: inMs(20_000),
    senders: [OWN_NODES],
  });
  expect(outcome).toMatchObject({ kind: "landed", record: { error: null } });
  polled.close();
});

test("a transaction that no leader takes expires only after the finalized height passes its last valid height", async () => {
  const stranger = createTestWallet();
  const { blockhash, lastValidBlockHeight } = chain.head.lifetime();
  const signed = signTransfer({ from: stranger, to: wallet.address, lamports: 1n, blockhash });
  let outcome: string | undefined;
  const landing = chain.landing
    .land({ ...signed, lastValidBlockHeight, deadlineMs: inMs(30_000), senders: [OWN_NODES] })
    .then((decided) => {
      outcome = decided.kind;
    });
  await sandbox.pause();
  const ahead = Number(lastValidBlockHeight - chain.head.blockHeight());
  await sandbox.advanceSlots(ahead + 5);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(outcome).toBeUndefined();
  await sandbox.advanceSlots(60);
  await landing;
  expect(outcome).toBe("expired");
  await sandbox.resume();
});
