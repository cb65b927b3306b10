import { hash, randomFillSync } from "node:crypto";
import bs58 from "bs58";
import { vi } from "vitest";
import { createLandedPrices } from "../../../src/chain/fees/landed-prices.ts";
import { createWalletBalances } from "../../../src/chain/fees/wallet-balance.ts";
import { createLanding } from "../../../src/chain/landing/landing.ts";
import { createNodeSender } from "../../../src/chain/landing/sender.ts";
import { createRpcPool } from "../../../src/chain/rpc/rpc-pool.ts";
import { Witnesses } from "../../../src/chain/rpc/witnesses.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { concatBytes, hex } from "../../../src/primitives/bytes.ts";
import { setComputeUnitPrice } from "../../../src/solana/compute-budget.ts";
import { writable } from "../../../src/solana/instruction.ts";
import { accountsOf } from "../../../src/solana/message/message-accounts.ts";
import { compileMessage, wireLayout } from "../../../src/solana/message.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import type { SealedTrade } from "../../../src/trade/build/token/sealed-trade.ts";
import { createTokenSealer } from "../../../src/trade/build/token/submission-token.ts";
import { createSubmitter } from "../../../src/trade/submit/submit-trade.ts";
import { fakeEndpoint, fakeSubscriptions } from "../../support/fake-chain.ts";
import { createMemorySubmissions } from "../../support/memory-submissions.ts";
import type { TestWallet } from "../../support/wallet.ts";
import { Chain, FIRST_SLOT, SLOT_MS } from "./chain.ts";
import type { Plan } from "./plans.ts";
import { type End, FEE, LEAST, LIFE, worldWith } from "./world.ts";

/** What the service said of a trade. */
interface Said {
  readonly cause: string | undefined;
  readonly sure: boolean;
  readonly evidence: string;
}

const TOKEN = Address.from(new Uint8Array(32).fill(3));
const MARKET = Address.from(new Uint8Array(32).fill(4));
/** Longest that a case may take: a whole life, its finality, and the search afterwards. Slots. */
const MOST_SLOTS = 900;
const STEP_MS = 100;
/** Time of a block that the trade should be signed before; of no consequence here. Milliseconds. */
const VALIDITY_MS = 30_000;

/** Submits the plan's trade to the service's own landing and submit code, in virtual time. Needs fake timers. */
export async function runPlan(plan: Plan, wallet: TestWallet): Promise<{ readonly said: Said; readonly end: End }> {
  const world = worldWith(plan.base, plan.faults);
  const chain = new Chain(world, plan.listsPrices, TOKEN.toString());
  const { sealed, transaction, signature } = signedTrade(wallet, world.bid, {
    lastValidBlockHeight: BigInt(chain.heightAt(0) + world.left),
    blocksLeft: world.leftAtBuild,
  });
  chain.trade = signature;
  chain.accounts = accountsOf(wireLayout(transaction).message).map(String);
  const endpoints = Array.from({ length: plan.nodes }, (_, i) => fakeEndpoint(chain.methods(), `node ${i}`));
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  const head = {
    blockHeight: () => BigInt(chain.heightAt(chain.slot - plan.lag)),
    slot: () => BigInt(FIRST_SLOT + chain.slot - plan.lag),
    slotMs: () => SLOT_MS,
  };
  const landing = createLanding({
    pool,
    witnesses: new Witnesses({ pool, now: Date.now, warn: () => {} }),
    senders: endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now: Date.now })),
    subscriptions: fakeSubscriptions(),
    head,
    now: Date.now,
    monotonicMs: Date.now,
    warn: () => {},
    random: () => 0.5,
  });
  const sealer = createTokenSealer({
    keys: [{ id: "k", secret: hex("07".repeat(32)), seals: true }],
    genesisHash: "virtual",
    now: Date.now,
    fillRandom: randomFillSync,
  });
  const submitter = createSubmitter({
    sealer,
    submissions: createMemorySubmissions(Date.now),
    landing,
    venues: [],
    now: Date.now,
    monotonicMs: Date.now,
    owner: "a",
    warn: () => {},
    slot: head.slot,
    conditions: {
      ...head,
      rentExemption: () => LEAST,
      prices: createLandedPrices({ pool, now: Date.now }),
      balances: createWalletBalances({ pool, now: Date.now }),
    },
    settings: { answerMs: MOST_SLOTS * SLOT_MS, historyMs: 86_400_000, leaseMs: 5_000, claimTimeoutMs: 100 },
  });
  const principal = { accountId: "acc", keyId: "key", wallet: wallet.address };
  const submissionToken = sealer.seal(sealed, principal.accountId);
  const answer: { said?: Said } = {};
  const submitting = submitter.submit({ principal, submissionToken, signedTransaction: transaction }).then(
    ({ diagnosis }) => {
      answer.said = { cause: diagnosis?.cause, sure: diagnosis?.sure ?? false, evidence: diagnosis?.evidence ?? "" };
    },
    (error) => {
      if (!(error instanceof TradewireError) || error.code !== "TX_EXPIRED") throw error;
      const { diagnosis, sure, evidence } = error.facts.details ?? {};
      answer.said = { cause: String(diagnosis), sure: sure === true, evidence: String(evidence) };
    },
  );
  for (let passed = 0; answer.said === undefined && passed < MOST_SLOTS * SLOT_MS; passed += STEP_MS)
    await vi.advanceTimersByTimeAsync(STEP_MS);
  await submitter.close();
  landing.close();
  if (answer.said === undefined) throw new Error(`${plan.name} has no end`);
  await submitting;
  return { said: answer.said, end: chain.end };
}

let trades = 0;

function signedTrade(
  wallet: TestWallet,
  bid: bigint,
  life: Pick<SealedTrade, "lastValidBlockHeight" | "blocksLeft">,
): { readonly sealed: SealedTrade; readonly transaction: Uint8Array; readonly signature: string } {
  const data = Uint8Array.of(2, 0, 0, 0, ++trades & 0xff, trades >> 8, 0, 0, 0, 0, 0, 0);
  const accounts = [{ address: wallet.address, signer: true, writable: true }, writable(MARKET)];
  const instructions = [setComputeUnitPrice(bid), { program: SYSTEM_PROGRAM, accounts, data }];
  const blockhash = new Uint8Array(32).fill(9);
  const message = compileMessage({ payer: wallet.address, instructions, blockhash, lookupTables: [] });
  const signature = wallet.sign(message);
  const sealed: SealedTrade = {
    wallet: wallet.address,
    messageHash: hash("sha256", message, "buffer"),
    messageLength: message.length,
    buildSlot: BigInt(FIRST_SLOT - 2 * LIFE),
    stateSlot: BigInt(FIRST_SLOT - 2 * LIFE),
    expiresAtMs: Date.now() + VALIDITY_MS,
    inMint: SOL_MINT,
    outMint: TOKEN,
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5_000n, priorityFee: FEE - 5_000n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
    route: [],
    creates: [],
    closes: undefined,
    senders: ["rpc"],
    priority: "fast",
    ...life,
  };
  return { sealed, transaction: concatBytes(Uint8Array.of(1), signature, message), signature: bs58.encode(signature) };
}
