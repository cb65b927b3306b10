import { expect, it } from "vitest";
import { fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { Witnesses } from "../../rpc/witnesses.ts";
import type { PendingTransaction } from "../pending-transaction.ts";
import { ExpiryChecks } from "./expiry-checks.ts";
import { RecordVotes } from "./record-votes.ts";

/** A node that claims to have seen the signatures that begin with "disputed". */
const node = () =>
  fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
    getSignatureStatuses: (signatures: readonly string[]) => ({
      context: { slot: 1_540 },
      value: signatures.map((signature) =>
        signature.startsWith("disputed") ? { slot: 1_500, err: null, confirmationStatus: "confirmed" } : null,
      ),
    }),
    isBlockhashValid: () => ({ context: { slot: 1_540 }, value: false }),
  });

it("comes to every transaction in turn, however many of them nodes cannot decide", async () => {
  const names = [...Array.from({ length: 300 }, (_, i) => `disputed ${i}`), "ours"];
  const pool = createRpcPool({ endpoints: [node()], now: Date.now, warn: () => {} });
  const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
  const votes = new RecordVotes(witnesses, () => true);
  const pending = new Map(
    names.map((signature) => [
      signature,
      { signature, lastValidBlockHeight: 500n, blockhash: undefined, votes } as PendingTransaction,
    ]),
  );
  const expired: string[] = [];
  let atMs = 0;
  const checks = new ExpiryChecks({
    witnesses,
    pending,
    head: { blockHeight: () => 540n, slot: () => 1_540n, slotMs: () => 400 },
    monotonicMs: () => atMs,
    warn: () => {},
    onExpired: ({ signature }) => expired.push(signature),
    onSeen: () => {},
    onRecorded: () => {},
  });
  for (let round = 0; round < 2; round++) {
    await checks.checkIfDue();
    atMs += 10_000;
  }
  expect(expired).toEqual(["ours"]);
});
