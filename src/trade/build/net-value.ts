import { maxOf } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { Intent } from "../intent.ts";
import { rankMarkets } from "../quote/ranking.ts";
import { pathCount, type Route } from "../quote/route.ts";
import type { Snapshot } from "../quote/snapshot.ts";
import { mostPriorityFee } from "./budget.ts";
import { type ComposedMessage, composeMessage, type MessagePorts, type MessageTerms } from "./message-forms.ts";
import type { WalletAccounts } from "./wallet-accounts.ts";

/** Routes composed beside the most valuable one at most. */
const MOST_COMPARED = 4;

/** True if a route may cost more than the plainest one: it pays for more markets than one, or opens accounts beside the one that receives. */
export function mayCostMore({ route, assembly }: ComposedMessage, { destination }: WalletAccounts): boolean {
  if (route.steps.length > 1 || pathCount(route) > 1) return true;
  return assembly.creates.some(({ address }) => address !== destination?.address);
}

/**
 * The message that leaves the wallet the most: the value of its route less rent and priority fee, in base units of the mint that counts
 * (exactIn: the output, exactOut: the input). Lamports are converted at the price of `best` if SOL is traded, else at that of the market
 * between SOL and the mint; without one, value alone decides. Every build of the trade chooses alike, whichever accounts its swaps name.
 *
 * @param best the most valuable route that fits
 * @param othersAbove further routes, the most valuable first: at least all that are worth more than the given base units
 */
export function leastCostly(
  ports: MessagePorts,
  terms: MessageTerms,
  best: ComposedMessage,
  othersAbove: (worth: bigint) => readonly Route[],
  clock: ChainClock,
): ComposedMessage {
  const priceOf = lamportPrice(terms.intent, best.route, terms.snapshot, clock);
  if (priceOf === undefined) return best;
  const sign = terms.intent.mode === "exactIn" ? 1n : -1n;
  const netOf = (message: ComposedMessage) =>
    sign * message.route.value -
    priceOf(message.costs.rentPaid + mostPriorityFee(ports.settings, message) - message.costs.rentReturned);
  const least = priceOf(leastCost(terms, best));
  let winner = best;
  let most = netOf(best);
  let compared = 0;
  // Before costs, the rest is already worth less than the best is after costs.
  for (const route of othersAbove(sign * (most + least))) {
    if (sign * route.value - least <= most || compared === MOST_COMPARED) break;
    compared += 1;
    const composed = composeMessage(ports, terms, route);
    if (!composed.fits) continue;
    const net = netOf(composed);
    if (net > most) [winner, most] = [composed, net];
  }
  return winner;
}

/** What every route costs at least: the receiving account is opened and an emptied one returns its rent on any route. Lamports. */
function leastCost({ intent, accounts }: MessageTerms, { assembly: { creates, prepaid } }: ComposedMessage): bigint {
  const opened = creates.find(({ address }) => address === accounts.destination?.address)?.rent ?? 0n;
  return maxOf(0n, opened - prepaid) - (intent.emptied?.lamports ?? 0n);
}

/** What lamports are worth in the mint that counts, rounded down; undefined if no price is known. */
function lamportPrice(
  { mode, inMint, outMint, inMint: { address: from }, outMint: { address: to } }: Intent,
  { inAmount, outAmount }: Route,
  { hubs }: Snapshot,
  clock: ChainClock,
): ((lamports: bigint) => bigint) | undefined {
  const [counted, other] = mode === "exactIn" ? [to, from] : [from, to];
  if (counted === SOL_MINT) return (lamports) => lamports;
  if (other === SOL_MINT) {
    const [worth, lamportsTraded] = mode === "exactIn" ? [outAmount, inAmount] : [inAmount, outAmount];
    return lamportsTraded === 0n ? undefined : (lamports) => (lamports * worth) / lamportsTraded;
  }
  const hub = hubs.find(({ hub }) => hub === SOL_MINT);
  if (hub === undefined) return undefined;
  const isTaxed = inMint.transferFees !== undefined || outMint.transferFees !== undefined;
  const ask =
    mode === "exactIn"
      ? { mode, inMint: SOL_MINT, outMint: to, amount: PRICED_LAMPORTS, clock }
      : { mode, inMint: from, outMint: SOL_MINT, amount: PRICED_LAMPORTS, clock };
  const { candidates } = rankMarkets(mode === "exactIn" ? hub.fromHub : hub.toHub, ask, isTaxed, 1);
  const priced = candidates[0]?.quote;
  if (priced === undefined) return undefined;
  const worth = mode === "exactIn" ? priced.outAmount : priced.inAmount;
  return (lamports) => (lamports * worth) / PRICED_LAMPORTS;
}

/** About the rent of a token account, the usual difference in costs. Lamports. */
const PRICED_LAMPORTS = 2_000_000n;
