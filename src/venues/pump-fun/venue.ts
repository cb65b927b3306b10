import { U64_MAX } from "../../primitives/integer.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { buyWithBudget, sellForQuote, sellTokens } from "../curves/pump.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { UNPAYABLE } from "../shared/pump-recipients.ts";
import { notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectTransferFee, rejectUnsupported, unread } from "../shared/required.ts";
import type { Ask, Quote, SignedAsk, Venue } from "../venue.ts";
import { pumpFunErrors } from "./errors.ts";
import {
  bondingCurveOf,
  decodePumpFunMarket,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_PROGRAM,
  type PumpFunMarket,
  sharingConfigOf,
} from "./layout.ts";
import { buyTokens } from "./math.ts";
import { pumpFunSpot } from "./spot.ts";
import { type PumpFunState, readState, recipientAccountsOf } from "./state.ts";
import { older, type PumpFunFill, swap } from "./swap.ts";

/**
 * The Pump bonding curve: virtual constant product, fees in the quote, native lamports for coins priced in SOL.
 *
 * The instructions are those of the newest official SDK (buy_v2, buy_exact_quote_in_v2, sell_v2), and the older ones (buy,
 * buy_exact_sol_in, sell) for lean swaps of coins priced in SOL. No instruction sells for an exact output. An exactOut sale
 * therefore sells the fewest tokens that pay at least the requested amount, which is also the program's minimum; `outAmount` is
 * what is really paid. It never sells more tokens than quoted: slippage does not loosen it. A buy may take the last token of the
 * curve and complete it; one that asks for more is refused, for builds of the program differ in what they do with it. The
 * wallet's volume account, the creator's vault and, for coins priced in a token, a token account of each are created at the
 * wallet's expense where they are missing, and the account of an older curve grows at it: rent. Fees go to recipients that have
 * an account for the token. Coins priced in a token with a transfer fee are refused: the build of pump-rust-client 0.5.0 adds the
 * fee to what the curve is to receive, earlier ones let the curve bear it, and nothing on the chain tells which is deployed. Proven
 * by execution on the program builds that pump-rust-client 0.2.0, 0.3.0 and 0.5.0 carry, and against pump-sdk 2.0.0. Which build is
 * deployed today is not known.
 */
export const pumpFun: Venue<PumpFunMarket, PumpFunState, PumpFunFill> = {
  id: "pump_fun",
  programs: [PUMP_PROGRAM, PUMP_FEE_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 9,

  /** Either mint may be the coin: its curve's address follows from it. */
  search({ a, b }) {
    return [
      {
        kind: "probe",
        addresses: [a, b].filter((mint) => mint !== SOL_MINT).map((mint) => bondingCurveOf(mint).address),
      },
    ];
  },

  /** No filter finds more: each pair's curves are where their addresses say. */
  searchMint: () => [],

  decode: decodePumpFunMarket,
  decoded: [
    [0, 8],
    [83, 115],
  ],

  needs(market, have) {
    const { address, mints, nativeSol } = market;
    const quoted = nativeSol ? [] : [mints[1], ...recipientAccountsOf(market, have)];
    return unread(have, [
      address,
      PUMP_GLOBAL,
      PUMP_FEE_CONFIG,
      mints[0],
      sharingConfigOf(mints[0]).address,
      ...quoted,
    ]);
  },

  read: readState,
  quote,
  isTimeless: () => true,
  spot: pumpFunSpot,
  traded,
  signedAsk,
  older,
  swap,

  errors: pumpFunErrors,
};

function quote(state: PumpFunState, ask: Ask): Quote<PumpFunFill> {
  const { market, curve, side, mints, lacksRecipients } = state;
  if (curve.complete) {
    const migrated = curve.virtualTokens === 0n;
    throw notTrading(
      market,
      migrated ? "has completed and migrated to pump_swap" : "has completed and waits for its migration to pump_swap",
    );
  }
  if (curve.namesWrappedSol) throw notTrading(market, "is priced in wrapped SOL as a token, which is not supported");
  for (const mint of mints) {
    rejectUnsupported(mint);
    rejectTransferFee(mint, "pump_fun");
  }
  if (lacksRecipients) throw notTrading(market, UNPAYABLE);
  if (side.tokens === 0n || side.quote === 0n) throw tooLarge(market);
  return ask.inMint === market.mints[1] ? quoteBuy(state, ask) : quoteSell(state, ask);
}

function quoteBuy({ market, curve, side }: PumpFunState, ask: Ask): Quote<PumpFunFill> {
  const { mode, inMint, outMint, amount } = ask;
  if (mode === "exactOut" && (amount > curve.realTokens || amount >= side.tokens)) throw tooLarge(market);
  if (amount === 0n) throw tooSmall();
  const trade = mode === "exactIn" ? buyWithBudget(amount, side) : buyTokens(amount, side);
  if (trade.tokens === 0n) throw tooSmall();
  if (trade.tokens > curve.realTokens || trade.quote > U64_MAX) throw tooLarge(market);
  // The program keeps what the curve is priced by in 64 bits, virtual part included.
  if (side.quote + trade.net > U64_MAX) throw tooLarge(market);
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.quote,
    outAmount: trade.tokens,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(trade.net, trade.tokens, side.tokens, side.quote),
    fill: {
      instruction: mode === "exactIn" ? "buyWithBudget" : "buy",
      amount,
      askedOut: 0n,
      completes: trade.tokens === curve.realTokens,
    },
  };
}

function quoteSell({ market, curve, side }: PumpFunState, ask: Ask): Quote<PumpFunFill> {
  const { mode, inMint, outMint, amount } = ask;
  if (amount === 0n) throw tooSmall();
  const trade = mode === "exactIn" ? sellTokens(amount, side) : sellForQuote(amount, side);
  if (trade === undefined || trade.net > curve.realQuote || side.tokens + trade.tokens > U64_MAX)
    throw tooLarge(market);
  if (trade.quote <= 0n) throw tooSmall();
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.tokens,
    outAmount: trade.quote,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(trade.tokens, trade.net, side.quote, side.tokens),
    fill: { instruction: "sell", amount: trade.tokens, askedOut: amount },
  };
}

/** The curve with what it holds moved; the market capitalisation may have reached another fee tier. */
function traded(state: PumpFunState, { mode, fill, outAmount }: Quote<PumpFunFill>): PumpFunState | undefined {
  const { curve, side } = state;
  const buying = fill.instruction !== "sell";
  const trade = !buying
    ? sellTokens(fill.amount, side)
    : mode === "exactIn"
      ? buyWithBudget(fill.amount, side)
      : buyTokens(outAmount, side);
  const [sold, raised] = buying ? [trade.tokens, trade.net] : [-trade.tokens, -trade.net];
  const tokens = side.tokens - sold;
  const quote = side.quote + raised;
  const fees = state.feesAt(tokens, quote);
  if (fees === undefined) return undefined;
  const realTokens = curve.realTokens - sold;
  const complete = curve.complete || realTokens === 0n;
  const held = { virtualTokens: tokens, virtualQuote: quote, realTokens, realQuote: curve.realQuote + raised };
  return { ...state, curve: { ...curve, ...held, complete }, side: { tokens, quote, fees } };
}

/** A sale for an exact output is a sale of the quoted tokens for no less than what was asked. */
function signedAsk({ mode, fill }: Quote<PumpFunFill>): SignedAsk {
  if (mode === "exactOut" && fill.instruction === "sell")
    return { mode: "exactIn", amount: fill.amount, bound: fill.askedOut };
  return { mode, amount: fill.amount };
}
