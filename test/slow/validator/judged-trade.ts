import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import type { BuiltResponse } from "../../../src/client/answers/answers.ts";
import type { CallControl } from "../../../src/client/order/options.ts";
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
/** Code of a trade whose end is not known when patience runs out. */
export const UNDECIDED = "UNDECIDED";
const RETRY_MS = 50;

/** Builds, verifies, signs and submits with the client library, and compares estimates, answer and costs with the ledger. */
export async function tradeJudged(
  ledger: JudgeLedger,
  client: Tradewire,
  what: string,
  build: () => Promise<BuiltResponse>,
): Promise<JudgedTrade> {
  const built = await patiently(build);
  const signed = await signBounded(client, built);
  const judged = await submitJudged(ledger, client, what, built, signed);
  const { trade } = judged;
  const pairs: readonly Pair[] = [
    ["input", built.estimates!.inputAmountRaw, trade.tradeResult?.inputAmountRaw],
    ["output", built.estimates!.outputAmountRaw, trade.tradeResult?.outputAmountRaw],
    ["remainders", describeRest(built.estimates!), describeRest(trade.tradeResult)],
    ["costs", describe(lamportsOf(built.costs!)), trade.costs && describe(lamportsOf(trade.costs))],
  ];
  return { ...judged, faults: [...differences(`${what}, build and answer`, pairs), ...judged.faults] };
}

/** Submits what was signed, and compares the answer with the ledger: whatever the build said, this is what happened. */
export async function submitJudged(
  ledger: JudgeLedger,
  client: Tradewire,
  what: string,
  built: BuiltResponse,
  signed: Uint8Array,
  control: CallControl = {},
): Promise<JudgedTrade> {
  const address = client.wallet.publicKey.toString();
  const holdings = async () => {
    const tokens = [built.inputMint, built.outputMint].map((mint) =>
      mint === SOL ? 0n : ledger.tokens(address, mint),
    );
    return { lamports: await ledger.lamports(address), tokens: await Promise.all(tokens) };
  };
  const before = await holdings();
  const trade = await client.submit(built.submissionToken, signed, control);
  if (trade.status === "pending" || trade.status === "processed") throw new TradeError(UNDECIDED, `${what}: pending`);
  const record = await eventually(async () => {
    const found = await ledger.record(trade.signature);
    if (found === null) throw new Error(`${what}: no record of ${trade.signature}`);
    return found;
  });
  ledger.noteTrade(address, record.slot);
  const after = await holdings();
  const moved = after.tokens.map((amount, i) => amount - before.tokens[i]!);
  const pairs = pairsOf(trade, record, { moved, lamports: after.lamports - before.lamports });
  return { trade, record, faults: differences(`${what}, answer and ledger`, pairs) };
}

/** Signs under a bound: the client signs an exact output only so, and the slippage of the order is one. */
export function signBounded(client: Tradewire, built: BuiltResponse): Promise<Uint8Array> {
  return client.sign(built, { maxInputRaw: maxInputOf(built) });
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

type Pair = readonly [name: string, said: unknown, was: unknown];

function pairsOf(trade: Trade, record: LedgerRecord, { moved, lamports }: Moved): readonly Pair[] {
  const { tradeResult: result, costs: paid } = trade;
  if (result === undefined || paid === undefined) return [["amounts of the answer", "known", "absent"]];
  const [input, output] = [BigInt(result.inputAmountRaw), BigInt(result.outputAmountRaw)];
  const costs = lamportsOf(paid);
  const [isFromSol, isToSol] = [trade.inputMint === SOL, trade.outputMint === SOL];
  const kept = restOf(result).reduce((sum, { mint, amountRaw }) => (mint === SOL ? sum + BigInt(amountRaw) : sum), 0n);
  const swapped = (isToSol ? output : 0n) - (isFromSol ? input : 0n) + kept;
  const [fees, rent] = [costs.baseFee + costs.priorityFee, costs.rentPaid - costs.rentReturned];
  const { err, fee, preBalances, postBalances } = record.meta;
  return [
    ["error", null, err],
    ["slot", trade.slot, record.slot],
    ["input", isFromSol ? 0n : -input, moved[0]],
    ["output", isToSol ? 0n : output, moved[1]],
    ["fee", fees, BigInt(fee)],
    ["lamports", swapped - fees - costs.tip - rent, lamports],
    ["lamports of the record", lamports, BigInt(postBalances[0]!) - BigInt(preBalances[0]!)],
  ];
}

interface Rest {
  readonly mint: string;
  readonly amountRaw: string;
}

/** What stays of each mint between two markets: all are listed only if there are several. */
function restOf({
  remainder,
  remainders = [],
}: {
  readonly remainder?: Rest | undefined;
  readonly remainders?: readonly Rest[];
}) {
  return remainders.length > 0 || remainder === undefined ? remainders : [remainder];
}

const describeRest = (amounts: Parameters<typeof restOf>[0] | undefined) =>
  amounts &&
  restOf(amounts)
    .map(({ mint, amountRaw }) => `${amountRaw} of ${mint}`)
    .join();

const differences = (what: string, pairs: readonly Pair[]) =>
  pairs.flatMap(([name, said, was]) => (said === was ? [] : [`${what}: ${name}: said ${said}, was ${was}`]));

const KINDS = ["baseFee", "priorityFee", "tip", "rentPaid", "rentReturned"] as const;
type Costs = Readonly<Record<(typeof KINDS)[number], bigint>>;

function lamportsOf(costs: { readonly [kind in (typeof KINDS)[number]]: string | bigint }): Costs {
  return Object.fromEntries(KINDS.map((kind) => [kind, BigInt(costs[kind])])) as Costs;
}

const describe = (costs: Costs) => KINDS.map((kind) => `${kind} ${costs[kind]}`).join(", ");

/** What does not hold between the outcome of a submit, as its code, and the ledger: landed, failed there, or provably never. */
export async function settleJudged(
  ledger: JudgeLedger,
  built: BuiltResponse,
  signed: Uint8Array,
  outcome: string,
): Promise<string[]> {
  const signature = bs58.encode(signed.subarray(1, 65));
  if (outcome === "TX_EXPIRED") await ledger.passHeight(Number(built.lastValidBlockHeight));
  const record = await ledger.record(signature);
  const was = record === null ? "never" : record.meta.err === null ? "landed" : "failed";
  const said = outcome === "accepted" ? "landed" : outcome === "TX_EXPIRED" ? "never" : "failed";
  return was === said ? [] : [`answered ${outcome}, the ledger says: ${was}`];
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
