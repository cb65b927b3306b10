import { hash } from "node:crypto";
import bs58 from "bs58";
import { expect, it, onTestFinished, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { signTransfer } from "../../../../test/support/transfer.ts";
import { createTestWallet } from "../../../../test/support/wallet.ts";
import { wireLayout } from "../../../solana/message.ts";
import { NodeError } from "../../rpc/node-error.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { Witnesses } from "../../rpc/witnesses.ts";
import { HistoryMessages } from "./history-messages.ts";
import { searchMessage } from "./message-search.ts";

const LAST_VALID = 500n;
const wallet = createTestWallet(new Uint8Array(32).fill(5));
const transfer = (lamports: bigint) =>
  signTransfer({ from: wallet, to: wallet.address, lamports, blockhash: new Uint8Array(32) });
const ours = transfer(1n);
const another = transfer(2n);

/** A node at this height that shows these signatures of the wallet, newest first and so many at a time, and the bytes of the transactions. */
function nodeWith(
  entries: readonly { readonly signature: string; readonly slot: number }[],
  height = 540,
  page = 1_000,
): FakeEndpoint {
  const bytesOf = new Map([ours, another].map(({ signature, transaction }) => [signature, transaction]));
  return fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: height + 1_000, blockHeight: height }),
    getSignaturesForAddress: (_address: string, { before }: { before?: string }) => {
      const from = before === undefined ? 0 : entries.findIndex(({ signature }) => signature === before) + 1;
      return entries.slice(from, from + page);
    },
    getTransaction: (signature: string) => ({
      slot: 1_400,
      transaction: [Buffer.from(bytesOf.get(signature)!).toString("base64"), "base64"],
    }),
  });
}

/** Slots are 1,000 ahead of heights: the message lived from slot 1,349 to 1,500. */
function search(endpoints: readonly FakeEndpoint[], height = 540n, skipped = 1_000n, known: readonly string[] = []) {
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
  const head = { blockHeight: () => height, slot: () => height + skipped, slotMs: () => 200 };
  const messageHash = hash("sha256", wireLayout(ours.transaction).message, "buffer");
  const messages = new HistoryMessages(pool);
  return searchMessage(
    { witnesses, head, messages },
    {
      wallet: wallet.address,
      messageHash,
      lastValidBlockHeight: LAST_VALID,
      buildSlot: 1_349n,
      known,
    },
  );
}

const funding = { signature: bs58.encode(new Uint8Array(64).fill(1)), slot: 10 };
const at = (slot: number, { signature } = ours) => ({ signature, slot });

it("finds the message under another signature, shown by any node", async () => {
  expect(await search([nodeWith([funding]), nodeWith([at(1_400, another), at(1_390), funding])])).toMatchObject({
    kind: "found",
    transaction: Buffer.from(ours.transaction),
  });
});

it("finds it behind a thousand later signatures", async () => {
  const later = Array.from({ length: 2_500 }, (_, i) => ({ signature: `later ${i}`, slot: 9_000 - i }));
  expect(await search([nodeWith([...later, at(1_390), funding])])).toMatchObject({ kind: "found" });
});

it("finds it on a node that gives fewer signatures at a time than it was asked for", async () => {
  const later = Array.from({ length: 5 }, (_, i) => ({ signature: `later ${i}`, slot: 9_000 - i }));
  const node = nodeWith([...later, at(1_390)], 540, 3);
  node.methods.getFirstAvailableBlock = () => 0;
  expect(await search([node])).toMatchObject({ kind: "found" });
});

it("proves it absent if as many nodes as must agree show the wallet's history without it", async () => {
  const nodes = [nodeWith([at(1_400, another), funding]), nodeWith([funding])];
  expect(await search(nodes)).toEqual({
    kind: "absent",
    reachesBack: true,
    witnesses: 2,
    sinceMs: 8_000,
    isRemembered: true,
  });
});

it("takes no history for proof that shows a followed signature, unless two whole ones outvote it", async () => {
  const [showing, lacking] = [() => nodeWith([at(1_390), funding]), () => nodeWith([funding])];
  const proves = (...nodes: readonly FakeEndpoint[]) => search(nodes, 540n, 1_000n, [ours.signature]);
  for (const nodes of [[showing()], [showing(), showing()], [showing(), lacking()], [nodeWith([at(1_390)]), lacking()]])
    await expect(proves(...nodes)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(await proves(showing(), lacking(), lacking())).toMatchObject({ kind: "absent", reachesBack: true });
  // They may have forgotten it by now.
  const late = [[at(1_390), funding], [funding], [funding]].map((entries) => nodeWith(entries, 700));
  await expect(search(late, 700n, 1_000n, [ours.signature])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("reports a history that does not reach back, and a message that nodes may have pruned", async () => {
  expect(await search([nodeWith([], 700), nodeWith([funding], 700)])).toMatchObject({
    kind: "absent",
    reachesBack: false,
    isRemembered: false,
  });
});

it("does not take a history for whole whose node lacks blocks since, as after a start from a newer snapshot", async () => {
  const nodeLacking = (lost: (slot: number) => boolean, height = 700) => {
    const node = nodeWith([funding], height);
    node.methods.getBlocks = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((slot) => !lost(slot));
    node.methods.getBlock = (slot: number) => ({ blockHeight: slot - 1_000 });
    return node;
  };
  const reaches = async (...nodes: readonly FakeEndpoint[]) => {
    const finding = await search(nodes, 700n);
    return finding.kind === "absent" && finding.reachesBack;
  };
  expect(await reaches(nodeLacking(() => false))).toBe(true);
  expect(await reaches(nodeLacking((slot) => slot < 1_345))).toBe(true);
  for (const lost of [
    (slot: number) => slot >= 1_360 && slot < 1_700,
    (slot: number) => slot >= 1_400 && slot < 1_402,
    (slot: number) => slot < 1_400,
    () => true,
  ])
    expect(await reaches(nodeLacking(lost))).toBe(false);
  // Of two nodes, both must have every block.
  expect(
    await reaches(
      nodeLacking(() => false),
      nodeLacking((slot) => slot > 1_360),
    ),
  ).toBe(false);
  // Of three, the two that have them bear it out.
  const three = [() => false, () => false, (slot: number) => slot > 1_360].map((lost) => nodeLacking(lost));
  expect(await search(three, 700n)).toMatchObject({ reachesBack: true, witnesses: 2 });
  // A status that the node still has in memory would have shown the message.
  const young = nodeLacking((slot) => slot > 1_360, 649);
  expect(await search([young], 649n)).toMatchObject({ reachesBack: true, isRemembered: true });
  expect(young.countOf("getBlocks")).toBe(0);
  // A node that does not serve blocks may have them all.
  expect(await reaches(nodeWith([funding], 700))).toBe(true);
  const failing = nodeLacking(() => false);
  failing.methods.getBlock = () =>
    Promise.reject(new NodeError("answered", "Block not available", { rpcCode: -32004 }));
  await expect(search([failing], 700n)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("takes a wallet without older transactions for one whose history is known, if the node's blocks reach back", async () => {
  const nodeFrom = (firstBlock: () => unknown, height = 540) => {
    const node = nodeWith([], height);
    node.methods.getFirstAvailableBlock = firstBlock;
    return node;
  };
  const [whole, restarted] = [() => 1_349, () => 1_350];
  expect(await search([nodeFrom(whole), nodeFrom(whole)])).toMatchObject({ reachesBack: true, isRemembered: true });
  expect(await search([nodeFrom(whole), nodeFrom(restarted)])).toMatchObject({ reachesBack: false });
  expect(await search([nodeFrom(whole), nodeWith([])])).toMatchObject({ reachesBack: false });
  // What an account's own history no longer shows may be pruned before the blocks are.
  expect(await search([nodeFrom(whole, 700), nodeFrom(whole, 700)])).toMatchObject({ reachesBack: false });
  const failing = nodeFrom(() => Promise.reject(new NodeError("unreachable", "no answer")));
  await expect(search([nodeFrom(whole), failing])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("finds it at the end of its life though the head counts too few slots as skipped", async () => {
  const landed = [at(1_499), funding];
  expect(await search([nodeWith(landed), nodeWith(landed)], 640n, 900n)).toMatchObject({ kind: "found" });
});

it("does not count what nodes may have forgotten as remembered because the head is led back", async () => {
  const bare = (height: number) =>
    fakeEndpoint({ getEpochInfo: () => ({ absoluteSlot: height + 1_000, blockHeight: height }) });
  for (const height of [700, 100_000])
    expect(await search([bare(height), bare(height)], 501n)).toMatchObject({ kind: "unserved", isRemembered: false });
  // One node's word is not enough, whichever it is.
  const three = [nodeWith([], 700), nodeWith([], 501), nodeWith([], 700)];
  expect(await search(three, 501n)).toMatchObject({ isRemembered: false });
  expect(await search([nodeWith([], 649), nodeWith([], 501), nodeWith([], 9_000)], 9_000n)).toMatchObject({
    isRemembered: true,
    sinceMs: 29_800,
  });
});

it("says nothing while one of two nodes alone says that the other need no longer remember", async () => {
  const bare = (height: number) =>
    fakeEndpoint({ getEpochInfo: () => ({ absoluteSlot: height + 1_000, blockHeight: height }) });
  for (const nodes of [
    [bare(501), bare(700)],
    [nodeWith([], 700), nodeWith([], 501)],
    [nodeWith([funding], 540), nodeWith([funding], 1_000_000_000)],
  ])
    await expect(search(nodes)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(await search([nodeWith([], 640), nodeWith([], 680)])).toMatchObject({ isRemembered: false });
  // Once the other one says so too, nothing makes the message older than that one says.
  expect(await search([nodeWith([funding], 650), nodeWith([funding], 1_000_000_000)])).toMatchObject({
    kind: "absent",
    reachesBack: true,
    sinceMs: 30_000,
  });
});

it("does not wait for a node that stands still at a block before the message could land, nor take one for it that may have it", async () => {
  const standing = nodeWith([], 348);
  const isLeftBehind = vi.spyOn(Witnesses.prototype, "isLeftBehind").mockImplementation((one) => one === standing);
  onTestFinished(() => isLeftBehind.mockRestore());
  expect(await search([nodeWith([funding]), standing])).toMatchObject({
    kind: "absent",
    reachesBack: true,
    witnesses: 1,
  });
  await expect(search([standing, nodeWith([at(1_390), funding])])).resolves.toMatchObject({ kind: "found" });
  standing.methods.getEpochInfo = () => ({ absoluteSlot: 1_349, blockHeight: 349 });
  await expect(search([nodeWith([funding]), standing])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("says nothing while no node says how far it has come", async () => {
  const failing = () => fakeEndpoint({ getEpochInfo: () => Promise.reject(new NodeError("unreachable", "no answer")) });
  const away = () => ({ ...failing(), silentForMs: () => 60_000 });
  await expect(search([away(), away()])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("refuses a list that is longer than it was asked for", async () => {
  const row = { signature: "x", slot: 1_390 };
  const flooding = fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
    getSignaturesForAddress: () => Array.from({ length: 200_000 }, () => row),
  });
  await expect(search([flooding])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("proves nothing while one of two nodes gives no answer", async () => {
  const dead = fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
    getSignaturesForAddress: () => Promise.reject(new NodeError("unreachable", "no answer")),
  });
  await expect(search([nodeWith([funding]), dead])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("is not misled by a node that shows another message instead of ours, or makes one up", async () => {
  const bytesOf = (bytes: Uint8Array) => ({
    slot: 1_390,
    transaction: [Buffer.from(bytes).toString("base64"), "base64"],
  });
  const forged = ours.transaction.slice();
  forged[5]! ^= 1;
  for (const shown of [another.transaction, forged]) {
    const liar = nodeWith([at(1_390), funding]);
    liar.methods.getTransaction = () => bytesOf(shown);
    expect(await search([liar, nodeWith([at(1_390), funding])])).toMatchObject({ kind: "found" });
    expect(await search([liar, nodeWith([funding]), nodeWith([funding])])).toMatchObject({ kind: "absent" });
  }
});

it("rests on one node if the other does not serve histories, and on none if none does", async () => {
  expect(await search([nodeWith([funding]), fakeEndpoint({})])).toMatchObject({ kind: "absent", witnesses: 1 });
  expect(await search([fakeEndpoint({}), fakeEndpoint({})])).toMatchObject({ kind: "unserved" });
});

it("leaves out nodes that keep no history at all", async () => {
  const bare = nodeWith([]);
  bare.methods.getSignaturesForAddress = () =>
    Promise.reject(new NodeError("answered", "Transaction history is not available", { rpcCode: -32011 }));
  expect(await search([nodeWith([funding]), bare])).toMatchObject({ kind: "absent", witnesses: 1 });
  expect(await search([bare])).toMatchObject({ kind: "unserved" });
});

it("proves nothing by a node that has not come as far as the message's last block", async () => {
  const late = nodeWith([funding]);
  late.methods.getEpochInfo = () => ({ absoluteSlot: 1_500, blockHeight: 500 });
  await expect(search([late])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  // The other one proved the expiry, and serves no histories.
  await expect(search([late, fakeEndpoint({})])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(await search([late, nodeWith([at(1_390), funding])])).toMatchObject({ kind: "found" });
});

it("proves nothing by a list from behind the height, as of another server at the same address", async () => {
  const node = nodeWith([funding]);
  const { getSignaturesForAddress } = node.methods;
  let finalizedSlot = 1_498;
  node.methods.getSignaturesForAddress = (address: never, config: never) => {
    const { minContextSlot = 0 } = config as { readonly minContextSlot?: number };
    if (minContextSlot <= finalizedSlot) return getSignaturesForAddress!(address, config);
    throw new NodeError("answered", "Minimum context slot has not been reached", { rpcCode: -32016 });
  };
  await expect(search([node])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  finalizedSlot = 1_540;
  expect(await search([node])).toMatchObject({ kind: "absent" });
});

it("proves nothing by a history that somebody filled with more than is read of it", async () => {
  for (const slot of [1_530, 2_000]) {
    const spam = Array.from({ length: 5_200 }, (_, i) => ({ signature: `spam ${i}`, slot }));
    expect(await search([nodeWith([...spam, at(1_390), funding])])).toMatchObject({
      kind: "absent",
      reachesBack: false,
    });
  }
});

it("is not misled by a node that lists the message under a signature that the wallet has not made", async () => {
  const forged = ours.transaction.slice();
  forged[5]! ^= 1;
  const liar = nodeWith([{ signature: bs58.encode(forged.subarray(1, 65)), slot: 1_390 }, funding]);
  liar.methods.getTransaction = () => ({ transaction: [Buffer.from(forged).toString("base64"), "base64"] });
  const doubt = vi.spyOn(liar, "doubt");
  expect(await search([liar, nodeWith([funding]), nodeWith([funding])])).toMatchObject({
    kind: "absent",
    witnesses: 2,
  });
  expect(doubt).toHaveBeenCalledOnce();
  await expect(search([liar, nodeWith([funding])])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

it("looks for it from before its build to after its last block, as far as heights may be wrong", async () => {
  for (const slot of [1_309, 1_540])
    expect(await search([nodeWith([at(slot), funding], 700)]), `${slot}`).toMatchObject({ kind: "found" });
});

it("proves it absent by a history that begins in the slot of the build, and reads no further back", async () => {
  const older = Array.from({ length: 9_000 }, (_, i) => ({ signature: `older ${i}`, slot: 1_308 }));
  expect(await search([nodeWith([at(1_349, another)])])).toMatchObject({ kind: "absent", reachesBack: true });
  expect(await search([nodeWith(older)])).toMatchObject({ kind: "absent", reachesBack: true });
});

it("proves nothing by a history with more in the message's lifetime than is compared, and asks for none of it", async () => {
  const many = Array.from({ length: 1_001 }, (_, i) => ({ signature: `many ${i}`, slot: 1_400 }));
  const node = nodeWith([...many, funding]);
  node.methods.getFirstAvailableBlock = () => 0;
  expect(await search([node])).toMatchObject({ kind: "absent", reachesBack: false, isRemembered: true });
  expect(node.countOf("getTransaction")).toBe(0);
});

it("proves nothing by a history that is longer since the build than is read, which keeps nobody waiting", async () => {
  const later = Array.from({ length: 5_001 }, (_, i) => ({ signature: `later ${i}`, slot: 9_000 }));
  const node = nodeWith([...later, at(1_390), funding]);
  node.methods.getFirstAvailableBlock = () => 0;
  expect(await search([node, nodeWith([funding])])).toMatchObject({ kind: "absent", reachesBack: false, witnesses: 2 });
  expect(node.countOf("getSignaturesForAddress")).toBe(5);
  expect(node.countOf("getTransaction")).toBe(0);
});

it("rests on one node while the other has been silent for long", async () => {
  const dead = fakeEndpoint({ getEpochInfo: () => Promise.reject(new NodeError("unreachable", "no answer")) });
  const silent = { ...dead, silentForMs: () => 60_000 };
  expect(await search([nodeWith([funding]), silent])).toMatchObject({ kind: "absent", witnesses: 1 });
});
