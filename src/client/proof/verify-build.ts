import { SOL_MINT } from "../../solana/programs.ts";
import type { BuiltResponse } from "../answers/answers.ts";
import type { TradeLimits } from "../order/limits.ts";
import type { LookupTableReader } from "../order/options.ts";
import { mintOf } from "../verify/build-answer.ts";
import { type LookupTables, lookupTablesOf } from "../verify/read-transaction.ts";
import { expectTrade, isShare, type TradeExpectation, type TradeOrder } from "../verify/trade-expectation.ts";
import { verifyTransaction } from "../verify/verify-transaction.ts";
import type { Wallet } from "../wallet.ts";
import { answerUnlessAborted } from "./pause.ts";
import { proveTrade, type TradeWitnesses } from "./prove-trade.ts";
import { boundsOf, type TradeReview } from "./review.ts";

/** What a build is verified with. */
export interface Verifier {
  readonly wallet: Wallet;
  readonly witnesses: TradeWitnesses;
  /** Decimals that the caller gave to the client, by mint. */
  readonly decimals: Readonly<Record<string, number>>;
  readonly lookupTables: LookupTables | LookupTableReader | undefined;
}

/** A build that was verified: what the transaction must be, and what was proven of it. */
export interface VerifiedBuild {
  readonly expected: TradeExpectation;
  readonly review: TradeReview;
}

/**
 * Verifies that a build is the trade that was ordered, offline, and then with the caller's node and reference.
 * @param wire the bytes that will be signed @throws TradeError, see `expectTrade`, `verifyTransaction` and `proveTrade`
 */
export async function verifyBuild(
  { wallet, witnesses, decimals: given, lookupTables }: Verifier,
  order: TradeOrder,
  built: BuiltResponse,
  wire: Uint8Array,
  limits: TradeLimits,
  signal: AbortSignal,
): Promise<VerifiedBuild> {
  const { node } = witnesses;
  const decimalsOf = async (mint: string): Promise<number | undefined> => {
    if (Object.hasOwn(given, mint)) return given[mint];
    const address = mintOf(mint);
    return address === SOL_MINT ? undefined : node?.decimals(address, signal);
  };
  const [input, output] = await Promise.all([
    limits.decimals?.input ?? decimalsOf(order.inputMint),
    limits.decimals?.output ?? decimalsOf(order.outputMint),
  ]);
  const decimals = { ...limits.decimals, input, output };
  // A node reads the balance that a share is taken of.
  const boundedBy = node !== undefined && isShare(order) ? "caller" : "limits";
  const expected = expectTrade(wallet.publicKey, order, built, { ...limits, decimals }, boundedBy);
  const tables = lookupTablesOf(wire);
  const reader = lookupTables ?? (node === undefined ? undefined : node.lookupTables);
  const isRead = tables.length > 0 && typeof reader === "function";
  const contents = isRead ? await answerUnlessAborted(signal, reader(tables, signal)) : reader;
  const transaction = verifyTransaction(wire, expected, {
    lookupTables: typeof contents === "function" ? undefined : contents,
  });
  const { slippage, sellPercent } = order;
  const rentPaid = built.costs === undefined ? undefined : BigInt(built.costs.rentPaid);
  const estimates = built.estimates!;
  const claimed = { wire, transaction, expected, slippage, sellPercent, rentPaid, order, limits, estimates };
  const proof = await proveTrade(claimed, witnesses, signal);
  const { input: inputDecimals, output: outputDecimals } = expected.decimals ?? {};
  return { expected, review: { built, ...boundsOf(expected), inputDecimals, outputDecimals, ...proof } };
}
