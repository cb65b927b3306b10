import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import type { BuiltResponse } from "../../../src/client/options.ts";
import type { Trade } from "../../../src/client/trade.ts";
import { TradeError } from "../../../src/client/trade-error.ts";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { eventually, PATIENCE_MS } from "../../support/eventually.ts";
import type { JudgeLedger, LedgerRecord } from "./ledger.ts";

/** A trade that landed, with the chain's record of it and everything in which service and ledger differ. */
export interface JudgedTrade {
  readonly trade: Trade;
  readonly record: LedgerRecord;
  readonly faults: readonly string[];
}

const SOL = SOL_MINT.toString();
const RETRY_MS = 50;

/** Builds, verifies, signs and submits with the client library, and compares estimates, answer and costs with the ledger. */
export async function tradeJudged(
  ledger: JudgeLedger,
  client: Tradewire,
  what: string,
  build: () => Promise<BuiltResponse>,
): Promise<JudgedTrade> {
  const address = client.wallet.publicKey.toString();
  const built = await patiently(build);
  const holdings = async (slot?: number) => {
    const tokens = [built.inputMint, built.outputMint].map((mint) =>
      mint === SOL ? 0n : ledger.tokens(address, mint, slot),
    );
    return { lamports: await ledger.lamports(address, slot), tokens: await Promise.all(tokens) };
  };
  const before = await holdings();
  // The client signs an exact output only under a bound; the slippage of the order is one.
  const signed = await client.sign(built, { maxInputRaw: maxInputOf(built) });
  const trade = await client.submit(built.submissionToken, signed);
  const after = await holdings(trade.slot);
  const record = await eventually(async () => {
    const found = await ledger.record(trade.signature);
    if (found === null) throw new Error(`${what}: no record of ${trade.signature}`);
    return found;
  });
  const moved = after.tokens.map((amount, i) => amount - before.tokens[i]!);
  const faults = compare(built, trade, record, { moved, lamports: after.lamports - before.lamports });
  return { trade, record, faults: faults.map((fault) => `${what}: ${fault}`) };
}

function maxInputOf({ estimates }: BuiltResponse): string {
  const [input, threshold] = [BigInt(estimates!.inputAmountRaw), BigInt(estimates!.otherAmountThresholdRaw)];
  return `${threshold > input ? threshold : input}`;
}

interface Moved {
  /** Base units of the input and output mints; 0 for SOL. */
  readonly moved: readonly bigint[];
  readonly lamports: bigint;
}

function compare(built: BuiltResponse, trade: Trade, record: LedgerRecord, { moved, lamports }: Moved): string[] {
  const { inputAmountRaw, outputAmountRaw } = built.estimates!;
  const [input, output] = [BigInt(inputAmountRaw), BigInt(outputAmountRaw)];
  const costs = lamportsOf(built.costs!);
  const [isFromSol, isToSol] = [built.inputMint === SOL, built.outputMint === SOL];
  const { remainder } = trade.tradeResult ?? {};
  const kept = remainder?.mint === SOL ? BigInt(remainder.amountRaw) : 0n;
  const swapped = (isToSol ? output : 0n) - (isFromSol ? input : 0n) + kept;
  const [fees, rent] = [costs.baseFee + costs.priorityFee, costs.rentPaid - costs.rentReturned];
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["error of the record", null, record.meta.err],
    ["slot", record.slot, trade.slot],
    ["input of the answer", inputAmountRaw, trade.tradeResult?.inputAmountRaw],
    ["output of the answer", outputAmountRaw, trade.tradeResult?.outputAmountRaw],
    ["remainder of the answer", built.estimates!.remainder?.amountRaw, remainder?.amountRaw],
    ["costs of the answer", describe(costs), trade.costs === undefined ? "none" : describe(lamportsOf(trade.costs))],
    ["input on the ledger", isFromSol ? 0n : -input, moved[0]],
    ["output on the ledger", isToSol ? 0n : output, moved[1]],
    ["fee on the ledger", fees, BigInt(record.meta.fee)],
    ["lamports on the ledger", swapped - fees - costs.tip - rent, lamports],
    ["lamports of the record", lamports, BigInt(record.meta.postBalances[0]!) - BigInt(record.meta.preBalances[0]!)],
  ];
  return pairs.flatMap(([name, said, was]) => (said === was ? [] : [`${name}: said ${said}, was ${was}`]));
}

const KINDS = ["baseFee", "priorityFee", "tip", "rentPaid", "rentReturned"] as const;
type Costs = Readonly<Record<(typeof KINDS)[number], bigint>>;

function lamportsOf(costs: { readonly [kind in (typeof KINDS)[number]]: string | bigint }): Costs {
  return Object.fromEntries(KINDS.map((kind) => [kind, BigInt(costs[kind])])) as Costs;
}

const describe = (costs: Costs) => KINDS.map((kind) => `${kind} ${costs[kind]}`).join(", ");

/** What does not hold between the outcome of a submit, as its code, and the ledger: landed exactly, or provably never. */
export async function settleJudged(
  ledger: JudgeLedger,
  built: BuiltResponse,
  signed: Uint8Array,
  outcome: string,
): Promise<string[]> {
  const signature = bs58.encode(signed.subarray(1, 65));
  if (outcome === "accepted") {
    const record = await ledger.record(signature);
    return record?.meta.err === null ? [] : [`answered as landed: ${JSON.stringify(record?.meta.err ?? "no record")}`];
  }
  if (outcome !== "TX_EXPIRED") return [`answered ${outcome}`];
  await ledger.passHeight(Number(built.lastValidBlockHeight));
  return (await ledger.record(signature)) === null ? [] : ["answered as expired, and landed"];
}

/** Repeats a call for as long as it fails in a way that may pass. */
export async function patiently<T>(call: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  for (const end = performance.now() + patienceMs; ; await sleep(RETRY_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TradeError && error.retryable) || performance.now() > end) throw error;
    }
  }
}

/** The code of a refusal, or "accepted". */
export function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof TradeError ? error.code : String(error)),
  );
}
