import { hash, randomFillSync } from "node:crypto";
import bs58 from "bs58";
import { afterEach, beforeEach, vi } from "vitest";
import type {
  Landing,
  LandingOrder,
  LandingOutcome,
  MessageFinding,
  TransactionProgress,
  TransactionRecord,
} from "../../src/chain/port.ts";
import type { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { concatBytes, hex } from "../../src/primitives/bytes.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { createTokenSealer } from "../../src/trade/build/token/submission-token.ts";
import { createSubmitter, type Submitter } from "../../src/trade/submit/submit-trade.ts";
import type { SubmittedTrade } from "../../src/trade/trade.ts";
import { createMemorySubmissions } from "./memory-submissions.ts";
import { signTransfer } from "./transfer.ts";
import { createTestWallet, signWithNonce } from "./wallet.ts";

export const LEASE_MS = 5_000;
/** Longer than any statement of the database takes. Milliseconds. */
const CLOSING_MS = 5_000;
/** The slot that every trade lands in. */
export const SLOT = 1_234n;
/** Seed of the wallet that signs. */
const SEED = new Uint8Array(32).fill(5);
const wallet = createTestWallet(SEED);
export const principal = { accountId: "acc_1", keyId: "key", wallet: wallet.address };
const token = Address.from(new Uint8Array(32).fill(3));

/** A sealer with the key of these hexadecimal digits. */
export const sealerOf = (digits: string) =>
  createTokenSealer({
    keys: [{ id: "k", secret: hex(digits.repeat(32)), seals: true }],
    genesisHash: "test",
    now: Date.now,
    fillRandom: randomFillSync,
  });
const sealer = sealerOf("07");

interface InFlight {
  readonly order: LandingOrder;
  end(outcome: LandingOutcome): void;
}

const freshWorld = () => ({
  submissions: createMemorySubmissions(Date.now),
  /** Orders in flight, by process and signature, and how to end them. */
  inFlight: new Map<string, InFlight>(),
  /** The progress that the chain reports for every transaction, or for the one with the signature `shown`. */
  progress: seen("finalized") as TransactionProgress | undefined,
  shown: undefined as string | undefined,
  isNodeDown: false,
  /** Until then, the nodes answer no request for progress. */
  nodesAnswer: Promise.resolve(),
  /** Whether slots may be final, by their notices. */
  mayBeFinal: true,
  /** Processes that no node answers. */
  cutOff: new Set<string>(),
  /** What the wallet's history says about every expired message. */
  finding: {
    kind: "absent",
    reachesBack: true,
    witnesses: 2,
    sinceMs: 10_000,
    isRemembered: true,
  } as MessageFinding,
  /** Requests for that progress. */
  looks: 0,
  processes: [] as Submitter[],
});

type SubmitWorld = ReturnType<typeof freshWorld>;

const world = {} as SubmitWorld;
let lamports = 1n;

/** A database, a chain and a clock for several processes of the service, fresh for each test. */
export function useSubmitWorld(): SubmitWorld {
  beforeEach(() => {
    vi.useFakeTimers();
    Object.assign(world, freshWorld());
  });
  afterEach(async () => {
    world.submissions.isDown = false;
    world.isNodeDown = false;
    const closing = Promise.all(world.processes.map((one) => one.close()));
    // A search that still runs ends first.
    await rest(CLOSING_MS);
    await closing;
    vi.useRealTimers();
  });
  return world;
}

/** How far a transaction is on the chain. */
export function seen(
  commitment: TransactionProgress["commitment"],
  error: unknown = null,
  slot = SLOT,
): TransactionProgress {
  return { slot, commitment, error };
}

/** One process of the service on the shared database. */
export function startProcess(owner: string, warn: (message: string) => void = () => {}, opener = sealer): Submitter {
  const landing: Landing = {
    land: (order) =>
      new Promise((resolve) => {
        world.inFlight.set(`${owner} ${order.signature}`, { order, end: resolve });
        order.onEvent?.({ kind: "sent", sender: "rpc-1" });
      }),
    drop: (signature) => world.inFlight.get(`${owner} ${signature}`)?.end({ kind: "pending" }),
    async fetchProgress(signature) {
      world.looks++;
      await world.nodesAnswer;
      if (world.isNodeDown) throw new Error("no node answers");
      return world.shown === undefined || world.shown === signature ? world.progress : undefined;
    },
    mayBeFinal: () => world.mayBeFinal,
    async searchMessage() {
      return world.finding;
    },
  };
  const submitter = createSubmitter({
    sealer: opener,
    submissions: world.submissions,
    landing,
    venues: [],
    now: Date.now,
    monotonicMs: () => performance.now(),
    owner,
    warn,
    isCutOff: () => world.cutOff.has(owner),
    settings: { answerMs: 25_000, historyMs: 86_400_000, leaseMs: LEASE_MS, claimTimeoutMs: 100 },
  });
  world.processes.push(submitter);
  return submitter;
}

/** A process that alone loses its way to the database at will. */
export function startBehind(owner: string): { readonly submitter: Submitter; isCutOff: boolean } {
  const shared = world.submissions;
  const way = { isCutOff: false };
  const reach = (call: (...parameters: readonly unknown[]) => unknown, parameters: readonly unknown[]) =>
    way.isCutOff ? Promise.reject(new Error("cut off")) : call(...parameters);
  const members = Object.entries(shared).map(([name, member]) => {
    if (typeof member !== "function" || name === "nowMs") return [name, member];
    return [name, (...parameters: readonly unknown[]) => reach(member, parameters)];
  });
  world.submissions = Object.fromEntries(members);
  const submitter = startProcess(owner);
  world.submissions = shared;
  return Object.assign(way, { submitter });
}

/** The chain's record of a trade of 100,000 lamports for 42 base units of the token. */
export function recordOf(error: unknown | null = null, slot = SLOT, amount = 42n): TransactionRecord {
  return {
    slot,
    error,
    feeLamports: 5_077n,
    accounts: [wallet.address],
    preBalances: [1_000_000n],
    postBalances: [894_923n],
    preTokenBalances: [],
    postTokenBalances: [{ accountIndex: 1, mint: token, owner: wallet.address, amount }],
    logs: [],
    computeUnitsConsumed: 1n,
  };
}

/** A built and signed transaction with its token. */
export function signedTrade(seal = sealer) {
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

type SignedTrade = ReturnType<typeof signedTrade>;

/** The trade as a wallet signs it that draws a new nonce each time: as valid as the first, in other bytes. */
export function resigned(trade: SignedTrade, nonce = 123_456_789n): SignedTrade {
  const message = trade.signedTransaction.subarray(65);
  const signature = signWithNonce(SEED, message, nonce);
  const signedTransaction = concatBytes(Uint8Array.of(1), signature, message);
  return { ...trade, signedTransaction, signature: bs58.encode(signature) };
}

/** Another build of the same message, with a token of its own: it differs from the first in nothing that the wallet signs. */
export function twinOf(trade: SignedTrade): SignedTrade {
  const { accountId } = principal;
  return { ...trade, submissionToken: sealer.seal(sealer.open(trade.submissionToken, accountId), accountId) };
}

/** A trade that was submitted and is in flight, and its answer. */
export async function submitOne(to: Submitter) {
  const trade = signedTrade();
  const answer = boxOf(to.submit(trade));
  await rest(10);
  return { trade, answer };
}

/** A trade that was submitted with two signatures and is in flight, and the answer to the first. */
export async function submitTwice(to: Submitter) {
  const { trade, answer } = await submitOne(to);
  const other = resigned(trade);
  boxOf(to.submit(other));
  await rest(10);
  return { trade, answer, other };
}

/** Lets a transaction of a process expire. */
export function expire(owner: string, signature: string): void {
  world.inFlight.get(`${owner} ${signature}`)!.end({ kind: "expired" });
}

/** Lets a transaction of a process land, failed if there is an error. */
export function land(owner: string, signature: string, error: unknown | null = null, witnesses = 2): void {
  world.inFlight.get(`${owner} ${signature}`)!.end({ kind: "landed", record: recordOf(error), witnesses });
}

/** Shows a process that follows a transaction its record in another slot, where it moved another amount. */
export function landElsewhere(
  owner: string,
  signature: string,
  { slot = SLOT + 9n, error = null as unknown, witnesses = 2 } = {},
): void {
  const record = recordOf(error, slot, 41n);
  world.inFlight.get(`${owner} ${signature}`)!.end({ kind: "landed", record, witnesses });
}

/** A trade submitted by process "a" that has landed, confirmed and not finalized yet. */
export async function submitLanded(a: Submitter): Promise<ReturnType<typeof signedTrade>> {
  const { trade, answer } = await submitOne(a);
  world.progress = seen("confirmed");
  land("a", trade.signature);
  await rest(10);
  if (answer.value?.status !== "confirmed") throw new Error("the trade did not land");
  return trade;
}

/** Lets time pass. Milliseconds. */
export const rest = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** The answer of a call, once there is one. */
export function boxOf(answer: Promise<SubmittedTrade>): {
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
