import { hash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import bs58 from "bs58";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMemorySubmissions, type MemorySubmissions } from "../../../test/support/memory-submissions.ts";
import { signTransfer } from "../../../test/support/transfer.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";
import type { Landing, LandingOrder, LandingOutcome, TransactionProgress } from "../../chain/port.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import { concatBytes, hex } from "../../primitives/bytes.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { createTokenSealer } from "../build/submission-token.ts";
import type { SubmittedTrade } from "../trade.ts";
import { createSubmitter, type Submitter } from "./submit-trade.ts";

const LEASE_MS = 5_000;
const SLOT = 1_234n;
const SEED = new Uint8Array(32).fill(5);
const wallet = createTestWallet(SEED);
const principal = { accountId: "acc_1", keyId: "key", wallet: wallet.address };
const token = Address.from(new Uint8Array(32).fill(3));
const sealerOf = (digits: string) =>
  createTokenSealer({
    keys: [{ id: "k", secret: hex(digits.repeat(32)), seals: true }],
    genesisHash: "test",
    now: Date.now,
  });
const sealer = sealerOf("07");

let submissions: MemorySubmissions;
/** Orders in flight, by process and signature, and how to end them. */
let inFlight: Map<string, { readonly order: LandingOrder; end(outcome: LandingOutcome): void }>;
/** The progress that the chain reports for every transaction. */
let progress: TransactionProgress | undefined;
let isNodeDown = false;
/** Requests for that progress. */
let looks = 0;
let lamports = 1n;
/** The slot in the record of every transaction. */
let recordSlot = SLOT;
const processes: Submitter[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  submissions = createMemorySubmissions(Date.now);
  inFlight = new Map();
  progress = { slot: SLOT, commitment: "finalized", error: null };
  looks = 0;
  recordSlot = SLOT;
});
afterEach(async () => {
  submissions.isDown = false;
  isNodeDown = false;
  await Promise.all(processes.splice(0).map((one) => one.close()));
  vi.useRealTimers();
});

/** One process of the service on the shared database. */
function startProcess(owner: string, warn: (message: string) => void = () => {}, opener = sealer): Submitter {
  const landing: Landing = {
    land: (order) =>
      new Promise((resolve) => {
        inFlight.set(`${owner} ${order.signature}`, { order, end: resolve });
        order.onEvent?.({ kind: "sent", sender: "rpc-1" });
      }),
    async fetchProgress() {
      looks++;
      if (isNodeDown) throw new Error("no node answers");
      return progress;
    },
  };
  const submitter = createSubmitter({
    sealer: opener,
    submissions,
    landing,
    transactions: {
      async fetchTransaction() {
        return {
          slot: recordSlot,
          error: null,
          feeLamports: 5_077n,
          accounts: [wallet.address],
          preBalances: [1_000_000n],
          postBalances: [894_923n],
          preTokenBalances: [],
          postTokenBalances: [{ accountIndex: 1, mint: token, owner: wallet.address, amount: 42n }],
          logs: [],
          computeUnitsConsumed: 1n,
        };
      },
    },
    venues: [],
    now: Date.now,
    owner,
    warn,
    settings: { answerMs: 25_000, leaseMs: LEASE_MS, claimTimeoutMs: 100 },
  });
  processes.push(submitter);
  return submitter;
}

/** A built and signed transaction with its token. */
function signedTrade(seal = sealer) {
  const { transaction, signature } = signTransfer({
    from: wallet,
    to: token,
    lamports: lamports++,
    blockhash: new Uint8Array(32),
  });
  const message = transaction.subarray(65);
  const sealed = {
    wallet: wallet.address,
    messageHash: hash("sha256", message, "buffer"),
    messageLength: message.length,
    lastValidBlockHeight: 150n,
    buildSlot: 1n,
    stateSlot: 1n,
    expiresAtMs: Date.now() + 28_000,
    inMint: SOL_MINT,
    outMint: token,
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5_000n, priorityFee: 77n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
    route: [],
    creates: [],
    closes: undefined,
    senders: ["rpc"],
  };
  const submissionToken = seal.seal(sealed, principal.accountId);
  return { principal, submissionToken, signedTransaction: transaction, signature };
}

const land = (owner: string, signature: string) =>
  inFlight.get(`${owner} ${signature}`)!.end({ kind: "landed", slot: SLOT, commitment: "confirmed", error: null });
const rest = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function boxOf(answer: Promise<SubmittedTrade>): {
  value: SubmittedTrade | undefined;
  error: TradewireError | undefined;
} {
  const box: ReturnType<typeof boxOf> = { value: undefined, error: undefined };
  answer.then(
    (value) => {
      box.value = value;
    },
    (error) => {
      box.error = error;
    },
  );
  return box;
}

describe("submits of the same bytes", () => {
  it("are one attempt in a process, and one across processes: all get the same answer", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const answers = [a, a, b].map((one) => boxOf(one.submit(trade)));
    await rest(300);
    expect([...inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    land("a", trade.signature);
    await rest(300);
    const [first, ...others] = answers.map(({ value }) => value!);
    expect(first).toMatchObject({ status: "confirmed", slot: SLOT, result: { inAmount: 100_000n, outAmount: 42n } });
    for (const other of others) expect(other).toEqual(first);
  });

  it("are answered as pending in time; asking again returns the outcome", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const early = boxOf(a.submit(trade));
    await rest(25_000);
    expect(early.value?.status).toBe("pending");
    inFlight.get(`a ${trade.signature}`)!.end({ kind: "expired" });
    await rest(100);
    for (const one of [a, b]) {
      const late = boxOf(one.submit(trade));
      await rest(300);
      expect(late.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
    }
  });
});

describe("a record of another slot than the transaction landed in", () => {
  it("is ignored: amounts come with the right record, not before", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    recordSlot = SLOT + 1n;
    await rest(10);
    land("a", trade.signature);
    await rest(2_000);
    expect(answer.value).toBeUndefined();
    recordSlot = SLOT;
    await rest(200);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT, result: { outAmount: 42n } });
  });

  it("never becomes a receipt", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    recordSlot = SLOT - 1n;
    await rest(10);
    land("a", trade.signature);
    await rest(25_000);
    expect(answer.value).toMatchObject({ status: "processed", slot: SLOT, result: undefined });
  });
});

describe("a process that does not hold the claim", () => {
  const seen = (commitment: TransactionProgress["commitment"], error: unknown = null) => ({
    slot: SLOT,
    commitment,
    error,
  });
  const statusAt = async (one: Submitter, signature: string) => {
    // Longer than one look at the chain is shared.
    await rest(400);
    return (await one.find(principal, signature)).status;
  };

  it("reports a pending trade as the chain shows it, also if it has joined the attempt", async () => {
    const [a, b, joined] = [startProcess("a"), startProcess("b"), startProcess("c")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    boxOf(joined.submit(trade));
    await rest(10);
    for (const one of [b, joined]) {
      progress = undefined;
      expect(await statusAt(one, trade.signature)).toBe("pending");
      progress = seen("processed");
      await rest(400);
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "processed", slot: SLOT });
      progress = seen("finalized");
      expect(await statusAt(one, trade.signature)).toBe("confirmed");
      isNodeDown = true;
      expect(await statusAt(one, trade.signature)).toBe("pending");
      isNodeDown = false;
    }
    land("a", trade.signature);
    await rest(200);
    for (const one of [b, joined])
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized", result: {} });
  });

  it("ignores a node that contradicts the outcome of a trade", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    land("a", trade.signature);
    await rest(300);
    for (const wrong of [
      seen("finalized", { InstructionError: [1, "x"] }),
      { ...seen("finalized"), slot: SLOT + 1n },
    ]) {
      progress = wrong;
      expect(await statusAt(b, trade.signature)).toBe("confirmed");
    }
    progress = seen("finalized");
    expect(await statusAt(b, trade.signature)).toBe("finalized");
  });

  it("reports it with the holder dead, and takes over later", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const claimed = vi.spyOn(submissions, "renew").mockResolvedValue();
    boxOf(a.submit(trade));
    await rest(10);
    const b = startProcess("b");
    progress = seen("confirmed");
    expect(await statusAt(b, trade.signature)).toBe("confirmed");
    await rest(LEASE_MS + 1_100);
    claimed.mockRestore();
    land("b", trade.signature);
    await rest(100);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed", result: {} });
  });

  it("leaves what it cannot read to a process that can, and warns once", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const renewed = vi.spyOn(submissions, "renew").mockResolvedValue();
    boxOf(a.submit(trade));
    await rest(10);
    const warnings: string[] = [];
    startProcess("b", (message) => warnings.push(message), sealerOf("08"));
    await rest(LEASE_MS + 3_100);
    expect(warnings.filter((message) => message.includes(trade.signature))).toHaveLength(1);
    const c = startProcess("c");
    await rest(1_100);
    renewed.mockRestore();
    land("c", trade.signature);
    await rest(100);
    expect(await c.find(principal, trade.signature)).toMatchObject({ status: "finalized", result: {} });
  });

  it("reports a failed trade as processed until its record says why", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    progress = seen("confirmed", { InstructionError: [2, { Custom: 6_004 }] });
    expect(await statusAt(b, trade.signature)).toBe("processed");
  });

  it("answers a submit in time with what it sees, at most processed", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    const joined = boxOf(b.submit(trade));
    progress = seen("confirmed");
    await rest(25_000);
    expect(joined.value).toMatchObject({ status: "processed", slot: SLOT, result: undefined });
  });

  it("streams a trade forward only, until it is finalized", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    progress = undefined;
    const answers: [string, string[]][] = [];
    const watched = (async () => {
      for await (const { status, events } of b.watch(principal, trade.signature, new AbortController().signal))
        answers.push([status, events.map(({ kind }) => kind)]);
    })();
    for (const next of [seen("processed"), undefined, seen("processed"), seen("confirmed")]) {
      await rest(450);
      progress = next;
    }
    await rest(450);
    land("a", trade.signature);
    await rest(450);
    progress = seen("finalized");
    await rest(450);
    await watched;
    expect(answers).toEqual([
      ["pending", []],
      ["processed", ["processed"]],
      ["confirmed", ["confirmed"]],
      ["confirmed", []],
      ["finalized", ["finalized"]],
    ]);
  });
});

describe("finality", () => {
  const at = (commitment: TransactionProgress["commitment"], slot = SLOT) => ({ slot, commitment, error: null });
  /** A trade that landed through the process. */
  const landed = async (a: Submitter) => {
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    await rest(10);
    progress = at("confirmed");
    land("a", trade.signature);
    await rest(10);
    expect(answer.value?.status).toBe("confirmed");
    return trade;
  };

  it("is requested once per 400 ms for any number of look-ups and streams, and never again once reached", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await landed(a);
    const streamed: string[] = [];
    const streams = Array.from({ length: 20 }, async () => {
      for await (const { status } of a.watch(principal, trade.signature, new AbortController().signal))
        if (status === "finalized") streamed.push(status);
    });
    for (let i = 0; i < 4_000 / 50; i++) {
      for (const { status } of await Promise.all(Array.from({ length: 10 }, () => a.find(principal, trade.signature))))
        expect(status).toBe("confirmed");
      await rest(50);
    }
    expect(looks).toBeGreaterThanOrEqual(9);
    expect(looks).toBeLessThanOrEqual(11);
    progress = at("finalized");
    await rest(850);
    await Promise.all(streams);
    expect(streamed).toHaveLength(20);
    const [row] = submissions.rows.values();
    expect(row).toMatchObject({ isFinalized: true });

    looks = 0;
    isNodeDown = true;
    await rest(1_000);
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT, result: {} });
      const again = boxOf(one.submit(trade));
      await rest(10);
      expect(again.value).toEqual(await one.find(principal, trade.signature));
      await rest(1_000);
    }
    expect(looks).toBe(0);
  });

  it("reported by one process is reported by the others when the trade is submitted again", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await landed(a);
    const replay = async (one: Submitter) => {
      const again = boxOf(one.submit(trade));
      await rest(200);
      return again.value?.status;
    };
    expect([await replay(a), await replay(b)]).toEqual(["confirmed", "confirmed"]);
    await rest(400);
    progress = at("finalized");
    expect((await b.find(principal, trade.signature)).status).toBe("finalized");
    expect([await replay(a), await replay(b)]).toEqual(["finalized", "finalized"]);
    submissions.isDown = true;
    expect([await replay(a), await replay(b)]).toEqual(["finalized", "finalized"]);
  });

  it("is reported with the database away, and written when it is back", async () => {
    const a = startProcess("a");
    const trade = await landed(a);
    progress = at("finalized");
    submissions.isDown = true;
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    submissions.isDown = false;
    progress = undefined;
    await rest(400);
    expect([...submissions.rows.values()].map(({ isFinalized }) => isFinalized)).toEqual([false]);
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    expect([...submissions.rows.values()].map(({ isFinalized }) => isFinalized)).toEqual([true]);
  });

  it("is ignored if it is of another slot than the outcome", async () => {
    const a = startProcess("a");
    const trade = await landed(a);
    progress = at("finalized", SLOT + 1n);
    expect((await a.find(principal, trade.signature)).status).toBe("confirmed");
  });

  it("ends a stream that starts after the outcome; its first answer has the amounts", async () => {
    const a = startProcess("a");
    const trade = await landed(a);
    const answers: [string, boolean, string[]][] = [];
    const watched = (async () => {
      for await (const { status, result, events } of a.watch(principal, trade.signature, new AbortController().signal))
        answers.push([status, result !== undefined, events.map(({ kind }) => kind)]);
    })();
    await rest(450);
    progress = at("finalized");
    await rest(450);
    await watched;
    expect(answers).toEqual([
      ["confirmed", true, ["sent", "confirmed"]],
      ["finalized", true, ["finalized"]],
    ]);
  });

  it("never precedes the amounts, even if the trade is first seen finalized", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    await rest(10);
    const answers: [string, boolean, string[]][] = [];
    const watched = (async () => {
      for await (const { status, result, events } of a.watch(principal, trade.signature, new AbortController().signal))
        answers.push([status, result !== undefined, events.map(({ kind }) => kind)]);
    })();
    await rest(10);
    inFlight.get(`a ${trade.signature}`)!.end({ kind: "landed", slot: SLOT, commitment: "finalized", error: null });
    await rest(10);
    await watched;
    expect(answer.value?.status).toBe("confirmed");
    expect(answers).toEqual([
      ["pending", false, ["sent"]],
      ["confirmed", false, ["confirmed"]],
      ["finalized", true, ["finalized"]],
    ]);
  });
});

describe("several signatures of one message", () => {
  /** Signed by a wallet that draws a new nonce each time: as valid as the first, in other bytes. */
  const resigned = (trade: ReturnType<typeof signedTrade>) => {
    const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(SEED);
    const order = ed25519.Point.Fn.ORDER;
    const nonce = 123_456_789n;
    const commitment = ed25519.Point.BASE.multiply(nonce).toBytes();
    const message = trade.signedTransaction.subarray(65);
    const digest = hash("sha512", concatBytes(commitment, pointBytes, message), "buffer").reverse();
    const answer = (nonce + (BigInt(`0x${digest.toString("hex")}`) % order) * scalar) % order;
    const last = Buffer.from(answer.toString(16).padStart(64, "0"), "hex").reverse();
    const signature = concatBytes(commitment, last);
    return {
      ...trade,
      signedTransaction: concatBytes(Uint8Array.of(1), signature, message),
      signature: bs58.encode(signature),
    };
  };

  it("are all sent and followed, and every process reports the one that lands", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    const answers = [boxOf(a.submit(trade)), boxOf(a.submit(other))];
    await rest(10);
    expect([...inFlight.keys()].toSorted()).toEqual([`a ${trade.signature}`, `a ${other.signature}`].toSorted());
    inFlight.get(`a ${trade.signature}`)!.end({ kind: "expired" });
    await rest(10);
    expect(answers[0]!.error).toBeUndefined();
    land("a", other.signature);
    await rest(200);
    for (const { value } of answers) expect(value).toMatchObject({ status: "confirmed", signature: other.signature });
    expect(await b.find(principal, other.signature)).toMatchObject({ signature: other.signature, slot: SLOT });
    const late = boxOf(b.submit(trade));
    await rest(200);
    expect(late.value).toMatchObject({ status: "finalized", signature: other.signature });
  });

  it("are followed by a process that joined with the first, once it gets the second", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    boxOf(a.submit(trade));
    await rest(10);
    const joined = boxOf(b.submit(trade));
    await rest(300);
    expect([...inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    boxOf(b.submit(other));
    await rest(300);
    land("b", other.signature);
    await rest(200);
    expect(joined.value).toMatchObject({ status: "confirmed", signature: other.signature });
  });

  it("are followed by the process that gets the second while another holds the first", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    const first = boxOf(a.submit(trade));
    await rest(10);
    boxOf(b.submit(other));
    await rest(200);
    expect([...inFlight.keys()]).toContain(`b ${other.signature}`);
    land("b", other.signature);
    await rest(200);
    inFlight.get(`a ${trade.signature}`)!.end({ kind: "expired" });
    await rest(200);
    expect(first.value).toMatchObject({ status: "confirmed", slot: SLOT });
  });
});

describe("a process that is lost", () => {
  it("has its submissions taken over when their leases expire, without a request", async () => {
    const trade = signedTrade();
    const claim = {
      messageHash: hash("sha256", trade.signedTransaction.subarray(65), "hex"),
      signature: trade.signature,
      accountId: principal.accountId,
      submissionToken: trade.submissionToken,
      transaction: trade.signedTransaction,
      lastValidBlockHeight: 150n,
      claimedAtMs: Date.now(),
    };
    await submissions.claim(claim, { owner: "lost", untilMs: Date.now() + LEASE_MS });
    const b = startProcess("b");
    await rest(LEASE_MS - 1_000);
    expect(inFlight.size).toBe(0);
    await rest(2_100);
    expect(inFlight.get(`b ${trade.signature}`)?.order).toMatchObject({ senders: ["rpc"], lastValidBlockHeight: 150n });
    land("b", trade.signature);
    await rest(100);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
  });

  it("hands over at once if it shuts down cleanly", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    await a.close();
    startProcess("b");
    await rest(1_100);
    expect(inFlight.has(`b ${trade.signature}`)).toBe(true);
  });

  it("leaves readable submissions that unreadable ones do not hold up", async () => {
    const [foreign, readable] = [signedTrade(sealerOf("08")), signedTrade()];
    for (const { signature, submissionToken, signedTransaction } of [foreign, readable]) {
      await submissions.claim(
        {
          messageHash: bs58.encode(hash("sha256", signedTransaction, "buffer")),
          signature,
          accountId: principal.accountId,
          submissionToken,
          transaction: signedTransaction,
          lastValidBlockHeight: 150n,
          claimedAtMs: 0,
        },
        { owner: "lost", untilMs: 0 },
      );
    }
    const warnings: string[] = [];
    startProcess("b", (message) => void warnings.push(message));
    await rest(10_000);
    expect([...inFlight.keys()]).toEqual([`b ${readable.signature}`]);
    expect(warnings).toHaveLength(1);
  });
});

describe("while the database is away", () => {
  it("a submit is broadcast and answered, found again, and recorded when the database is back", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    submissions.isDown = true;
    const answer = boxOf(a.submit(trade));
    await rest(10);
    expect(inFlight.size).toBe(1);
    land("a", trade.signature);
    await rest(10);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT });
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
    await expect(a.find({ ...principal, accountId: "acc_2" }, trade.signature)).rejects.toThrow("database");
    submissions.isDown = false;
    await rest(1_100);
    const [row] = submissions.rows.values();
    expect(row).toMatchObject({ signature: trade.signature, submissionToken: trade.submissionToken });
    expect(row?.outcome).toContain('"confirmed"');
  });

  it("a claim is written once the database is back, while the trade is pending", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    submissions.isDown = true;
    boxOf(a.submit(trade));
    await rest(2_000);
    submissions.isDown = false;
    await rest(1_100);
    const [row] = submissions.rows.values();
    expect(row).toMatchObject({ owner: "a", outcome: undefined });
    expect(row!.leaseUntilMs).toBeGreaterThan(Date.now());
  });
});

describe("a submit for another wallet than the key's", () => {
  it("is refused before anything is sent or written, even for the same account", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const stranger = createTestWallet(new Uint8Array(32).fill(6)).address;
    await expect(a.submit({ ...trade, principal: { ...principal, wallet: stranger } })).rejects.toMatchObject({
      code: "WALLET_MISMATCH",
    });
    await rest(300);
    expect(inFlight.size).toBe(0);
    expect(submissions.rows.size).toBe(0);
  });
});
