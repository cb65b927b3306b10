import type { Address } from "../../primitives/address.ts";
import { rest } from "../proof/pause.ts";
import type { NodeFindings, NodeTrade } from "../proof/trade-node.ts";
import { isVenueProgram } from "../verify/match-swap.ts";
import { type Problem, UnexpectedTransactionError } from "../verify/problem.ts";
import type { MessageInstruction, ReadTransaction } from "../verify/read-transaction.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import { hidesTransferFee, type NodeAccount, readAccounts, tokenAccountIn } from "./node-accounts.ts";
import type { RpcCall } from "./rpc.ts";
import { priceOf, scaledTrade } from "./scaled-trade.ts";
import { readEmptyRent, readFee, simulateWire, undefinedIfFailed } from "./simulation.ts";
import { changeProblems, type Moved, movedBy, type TradeCharges, walletChanges } from "./wallet-changes.ts";

type Accounts = ReadonlyMap<Address, NodeAccount | undefined>;

/** What a check reads on the node before it judges. */
interface Reading {
  readonly addresses: readonly Address[];
  readonly before: Accounts;
  readonly charges: TradeCharges;
  /** Rent of an account without data. Lamports. */
  readonly emptyRent: bigint;
}

/**
 * Reading and simulating are two calls: a change between them looks like one of the trade's, so both are repeated. A node that knows the
 * blockhash may be behind the state of the build, where the transaction fails.
 */
const ATTEMPTS = 3;
const ATTEMPT_PAUSE_MS = 400;
/** The estimate may differ from the simulation by the slippage, or by this if it is more: the market moves in between. */
const LEAST_DRIFT = 0.01;
/** Percents are counted in billionths, so that nine decimals are exact. */
const PERCENT_PARTS = 1_000_000_000n;
/** Parts that the price before the trade is measured at, the smallest first, and base units that such a part needs. */
const DIVISORS = [1_000n, 100n, 10n];
const LEAST_PART = 1_000n;

/**
 * Simulates the exact bytes on the node and holds every change of the wallet against the order, then measures the price impact.
 * @throws UnexpectedTransactionError; TradeError SIMULATION_FAILED, NODE_UNAVAILABLE
 */
export async function checkOnNode(
  call: RpcCall,
  trade: NodeTrade,
  signal: AbortSignal | undefined,
): Promise<NodeFindings> {
  const { wire, transaction, expected } = trade;
  const addresses = transaction.accounts.filter(({ writable }) => writable).map(({ address }) => address);
  const named = expected.legs.flatMap(({ market, outMint }) => [market, outMint]);
  const [fee, emptyRent] = await Promise.all([readFee(call, transaction.message, signal), readEmptyRent(call, signal)]);
  const charges = { fee, tip: expected.tipLamports };
  for (let attempt = 1; ; attempt++) {
    const before = await readAccounts(call, [...new Set([...addresses, ...named])], "processed", signal);
    const simulating = simulateWire(call, wire, addresses, signal);
    const simulated = await (attempt < ATTEMPTS ? simulating.catch(undefinedIfFailed) : simulating);
    if (simulated === undefined) {
      await rest(ATTEMPT_PAUSE_MS, signal);
      continue;
    }
    const changes = walletChanges(expected.wallet, addresses, before, simulated.after, emptyRent);
    const moved = movedBy(changes, expected, charges);
    const problems = [
      ...changeProblems(changes, expected, charges, trade.rentPaid),
      ...marketProblems(transaction, expected, before),
      ...mintProblems(expected, before),
      ...shareProblems(trade, addresses, before),
      ...estimateProblems(trade, moved),
    ];
    if (problems.length === 0) {
      const priceImpact = await measureImpact(call, trade, moved, { addresses, before, charges, emptyRent }, signal);
      const { inAmount, outAmount } = moved;
      const amounts = { inputAmountRaw: inAmount.toString(), outputAmountRaw: outAmount.toString() };
      return { slot: simulated.slot, ...amounts, priceImpact };
    }
    if (attempt === ATTEMPTS) throw new UnexpectedTransactionError(onNode(problems));
    await rest(ATTEMPT_PAUSE_MS, signal);
  }
}

function onNode(problems: readonly Problem[]): Problem[] {
  return problems.map((one) => ({ ...one, reason: `simulated on your node, ${one.reason}` }));
}

/** Each market belongs to the program that the transaction calls for it. */
function marketProblems({ instructions }: ReadTransaction, { legs }: TradeExpectation, before: Accounts): Problem[] {
  const swaps = instructions.filter(({ program }) => isVenueProgram(program));
  return legs.flatMap(({ market, venue }) => {
    const owner = before.get(market)?.owner;
    const trades = (swap: MessageInstruction) =>
      swap.program === owner && swap.accounts.some(({ address }) => address === market);
    if (owner !== undefined && swaps.some(trades)) return [];
    return [{ instruction: undefined, account: market, reason: `the market is not an account of ${venue}` }];
  });
}

/** No minimum counts on a transfer fee that the venue's program may overlook. */
function mintProblems({ legs }: TradeExpectation, before: Accounts): Problem[] {
  return legs.flatMap(({ outMint }) => {
    const mint = before.get(outMint);
    if (mint === undefined || !hidesTransferFee(mint)) return [];
    const reason =
      "its transfer fee stands behind an extension that the venue may not know, and its minimum leaves it out";
    return [{ instruction: undefined, account: outMint, reason }];
  });
}

/** A share is taken of the balance on this node, rounded down. */
function shareProblems({ expected, sellPercent }: NodeTrade, addresses: readonly Address[], before: Accounts) {
  if (sellPercent === undefined) return [];
  const { wallet, inMint, amount } = expected;
  let held = 0n;
  for (const address of addresses) {
    const account = tokenAccountIn(before.get(address));
    if (account?.owner === wallet && account.mint === inMint) held += account.amount;
  }
  const share = (held * BigInt(Math.round(sellPercent * Number(PERCENT_PARTS)))) / (100n * PERCENT_PARTS);
  if (share === amount) return [];
  const reason = `${sellPercent} % of the balance is ${share} base units, but the transaction sells ${amount}`;
  return [{ instruction: undefined, account: inMint, reason }];
}

/**
 * Slippage counts from the service's estimate: one far below what the trade yields now would leave the difference to others. Where a
 * venue has no exact outputs, the estimated input is spent whole: one far too high buys more than was ordered.
 */
function estimateProblems({ expected, slippage }: NodeTrade, { inAmount, outAmount }: Moved): Problem[] {
  const { mode, threshold, amount, legs, outMint } = expected;
  const drift = Math.max(slippage, LEAST_DRIFT);
  const isExactIn = mode === "exactIn";
  const tooLow = isExactIn && Number(threshold) < Math.floor(Number(outAmount) * (1 - slippage) * (1 - drift));
  const tooHigh = !isExactIn && Number(threshold) > Math.ceil(Number(inAmount) * (1 + slippage) * (1 + drift)) + 1;
  const estimated = legs.reduce((sum, leg) => (leg.outMint === outMint ? sum + leg.outAmount : sum), 0n);
  if (!isExactIn && Number(outAmount) > Math.ceil(Number(estimated) * (1 + drift)) + 1) {
    const facts = `the trade yields ${outAmount} base units, but ${amount} were ordered: the service's estimate is too high`;
    return [{ instruction: undefined, account: outMint, reason: facts }];
  }
  if (!tooLow && !tooHigh) return [];
  const reason = isExactIn
    ? `the trade yields ${outAmount} base units, but allows as little as ${threshold}: the service's estimate is too low`
    : `the trade takes ${inAmount} base units, but allows as much as ${threshold}: the service's estimate is too high`;
  return [{ instruction: undefined, account: undefined, reason }];
}

/**
 * The price impact: how much worse the trade's price is than that of a small part of it. Fees in proportion cancel out.
 * Undefined if no part can be simulated.
 */
async function measureImpact(
  call: RpcCall,
  { wire, transaction, expected }: NodeTrade,
  whole: Moved,
  { addresses, before, charges, emptyRent }: Reading,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const price = priceOf(transaction.instructions, whole);
  if (price === undefined) return undefined;
  for (const divisor of DIVISORS) {
    if (whole.inAmount / divisor < LEAST_PART || whole.outAmount / divisor < LEAST_PART) continue;
    const scaled = scaledTrade(wire, transaction, divisor);
    const simulated = await simulateWire(call, scaled.wire, addresses, signal).catch(undefinedIfFailed);
    if (simulated === undefined) continue;
    const changes = walletChanges(expected.wallet, addresses, before, simulated.after, emptyRent);
    const partPrice = priceOf(scaled.instructions, movedBy(changes, expected, charges));
    if (partPrice === undefined) continue;
    // The part moves the price too, by about its share of the impact.
    const impact = ((1 - price / partPrice) * Number(divisor)) / Number(divisor - 1n);
    return Math.min(1, Math.max(0, impact));
  }
  return undefined;
}
