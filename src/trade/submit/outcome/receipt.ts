import type { TokenBalanceRecord, TransactionRecord } from "../../../chain/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { maxOf, minOf } from "../../../primitives/integer.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import type { CreatedAccount } from "../../build/parts/assembled.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import { wrappedSolAccount } from "../../build/wallet-accounts.ts";
import type { Costs, ExactAmounts } from "../../trade.ts";

/** What a transaction moved and cost, from the chain's own record. */
interface Receipt {
  readonly result: ExactAmounts;
  readonly costs: Costs;
}

/**
 * Measures a trade on the record of its transaction, exact to the base unit: tokens by the wallet's token balances, SOL by
 * its lamports without fee, tip and rent. Over two markets, the remainders are measured the same way.
 */
export function readReceipt(sealed: SealedTrade, record: TransactionRecord): Receipt {
  const costs = measureCosts(sealed, record);
  const gained = (mint: Address): bigint =>
    mint === SOL_MINT ? gainedLamports(sealed, record, costs) : gainedTokens(sealed.wallet, mint, record);
  const amounts = { inAmount: -gained(sealed.inMint), outAmount: gained(sealed.outMint) };
  const between = new Set<Address>();
  for (const { outMint } of sealed.route) if (outMint !== sealed.outMint) between.add(outMint);
  if (between.size === 0) return { result: amounts, costs };
  return { result: { ...amounts, remainders: Array.from(between, (mint) => ({ mint, amount: gained(mint) })) }, costs };
}

function gainedTokens(wallet: Address, mint: Address, record: TransactionRecord): bigint {
  const held = (balances: readonly TokenBalanceRecord[]) =>
    balances.reduce((sum, entry) => (entry.owner === wallet && entry.mint === mint ? sum + entry.amount : sum), 0n);
  return held(record.postTokenBalances) - held(record.preTokenBalances);
}

function gainedLamports(sealed: SealedTrade, record: TransactionRecord, costs: Costs): bigint {
  const payer = record.accounts.indexOf(sealed.wallet);
  const change = record.postBalances[payer]! - record.preBalances[payer]!;
  const traded = change + record.feeLamports + costs.tip + costs.rentPaid - costs.rentReturned;
  return traded - unwrappedBeside(sealed.wallet, record);
}

/**
 * What the wallet's own wrapped-SOL account held before the transaction wrapped SOL in it and closed it. Builds use that account only if it
 * does not exist, but before they land the wallet may wrap SOL there, and anyone may send lamports.
 */
function unwrappedBeside(wallet: Address, { accounts, preBalances, postBalances }: TransactionRecord): bigint {
  for (let index = 0; index < accounts.length; index++) {
    const before = preBalances[index]!;
    // Few trades close an account: the address is derived only for those.
    if (before === 0n || postBalances[index] !== 0n) continue;
    if (accounts[index] === wrappedSolAccount(wallet).address) return before;
  }
  return 0n;
}

function measureCosts({ costs, creates, closes }: SealedTrade, record: TransactionRecord): Costs {
  // A new account may hold more than its rent, such as cashback or a creator's fee, which is part of the trade.
  let rentPaid = 0n;
  for (const created of creates) {
    const index = record.accounts.indexOf(created.address);
    if (index < 0) continue;
    const { rent } = created;
    const before = record.preBalances[index]!;
    const after = record.postBalances[index]!;
    // If another trade was faster, the account already existed or had grown: nothing was paid for it. Lamports at its address before its
    // creation paid for their part.
    if (created.isTraded) rentPaid += growthPaid(created, after - before, record);
    else rentPaid += created.grows ? minOf(after - before, rent) : maxOf(0n, minOf(after, rent) - before);
  }
  const closed = closes === undefined ? -1 : record.accounts.indexOf(closes);
  const rentReturned = closed < 0 ? 0n : record.preBalances[closed]! - record.postBalances[closed]!;
  return { ...costs, baseFee: record.feeLamports - costs.priorityFee, rentPaid, rentReturned };
}

/**
 * The rent among the transfers to a market's account that grew while the trade's lamports moved through it. A purchase sends its price
 * there too, and nothing leaves: the transfer closest to the announced rent counts as rent. If no node shows the transfers, it is the
 * announced rent: another trade is hardly ever faster.
 */
function growthPaid({ address, rent }: CreatedAccount, change: bigint, { transfers }: TransactionRecord): bigint {
  if (transfers === undefined) return rent;
  const sent = transfers.filter(({ to }) => to === address).map(({ lamports }) => lamports);
  const isPurchase = sent.reduce((sum, lamports) => sum + lamports, 0n) === change;
  if (sent.length <= (isPurchase ? 1 : 0)) return 0n;
  const off = (lamports: bigint) => maxOf(lamports - rent, rent - lamports);
  return sent.reduce((nearest, lamports) => (off(lamports) < off(nearest) ? lamports : nearest));
}
