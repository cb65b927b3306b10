import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { buyWithBudget, sellForQuote, sellTokens } from "../curves/pump.ts";
import { filterByMint, filterEitherWay } from "../shared/mint-filter.ts";
import { BUMP_STEP_UNITS, USER_VOLUME_SIZE } from "../shared/pump-costs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { UNPAYABLE } from "../shared/pump-recipients.ts";
import { notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectTransferFee, rejectUnsupported, unread } from "../shared/required.ts";
import type { Ask, Quote, SignedAsk, SwapLeg, SwapTerms, Venue } from "../venue.ts";
import { pumpSwapErrors } from "./errors.ts";
import { extendPool, type PumpSwapInstruction, pumpSwapCall } from "./instruction.ts";
import {
  canonicalPumpPool,
  decodePumpPool,
  decodePumpSwapMarket,
  EXTENDED_POOL_SIZE,
  PUMP_SWAP_BASE_MINT_OFFSET,
  PUMP_SWAP_FEE_CONFIG,
  PUMP_SWAP_GLOBAL,
  PUMP_SWAP_PROGRAM,
  type PumpSwapMarket,
  pumpSwapCreatorVaultOf,
  QUOTE_MINT_OFFSET,
} from "./layout.ts";
import { buyFromPool, heldByVault, paidByVault } from "./math.ts";
import { pumpSwapSpot } from "./spot.ts";
import { type PumpSwapState, readState, recipientAccountsOf } from "./state.ts";
import { VOLUME_CREATION_UNITS } from "./units.ts";

/** The instruction, its first argument and, for inverse sells, the least output it accepts instead of the threshold. */
export interface PumpSwapFill {
  readonly instruction: PumpSwapInstruction;
  readonly amount: bigint;
  readonly askedOut: bigint;
}

const ACCOUNTS = { program: PUMP_SWAP_PROGRAM, mintOffsets: [PUMP_SWAP_BASE_MINT_OFFSET, QUOTE_MINT_OFFSET] } as const;

/**
 * PumpSwap: constant product with fees in the quote, by market capitalisation for coins that came from the Pump curve.
 *
 * The instructions are buy, buy_exact_quote_in and sell of the newest official SDK; pools of an older, shorter layout are
 * extended first. An exactOut sale sells the fewest tokens that pay at least the requested amount, which is also the program's
 * minimum; `outAmount` is what is really paid. It never sells more tokens than quoted: slippage does not loosen it. Fees go to
 * recipients that have an account for the quote token. Tokens with a transfer fee are refused: the build of pump-rust-client 0.5.0
 * adds that of the quote to what the pool is to receive, earlier ones let the pool bear it, and nothing on the chain tells which is
 * deployed. Proven by execution on the program builds that pump-rust-client 0.2.0, 0.3.0 and 0.5.0 carry, and against pump-swap-sdk
 * 1.20.0. Which build is deployed today is not known.
 */
export const pumpSwap: Venue<PumpSwapMarket, PumpSwapState, PumpSwapFill> = {
  id: "pump_swap",
  programs: [PUMP_SWAP_PROGRAM, PUMP_FEE_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 9,

  /** Pools that the pair's curves migrate to, by derivation; all others by filter, in either order. */
  search(pair) {
    const { a, b } = pair;
    return [
      { kind: "guess", addresses: () => [canonicalPumpPool(a, b), canonicalPumpPool(b, a)] },
      ...filterEitherWay(ACCOUNTS, pair),
    ];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodePumpSwapMarket,
  decoded: [[0, 203]],

  /** In the last round accounts that fees are paid into: the first trade to pay into the creator's creates it. */
  needs(market, have) {
    const { address, mints, vaults } = market;
    const missing = unread(have, [address, ...vaults, ...mints, PUMP_SWAP_GLOBAL, PUMP_SWAP_FEE_CONFIG]);
    const account = have.get(address);
    // The token program of wrapped SOL is known before its mint is read: that saves a round of reads.
    const program = mints[1] === SOL_MINT ? TOKEN_PROGRAM : have.get(mints[1])?.owner;
    if (!account || program === undefined) return missing;
    const pool = decodePumpPool(account);
    const vault = pumpSwapCreatorVaultOf(pool.coinCreator).address;
    const recipients = recipientAccountsOf(market, pool, program, have);
    return [...missing, ...unread(have, [associatedTokenAccount(vault, mints[1], program).address, ...recipients])];
  },

  read: readState,
  quote,
  isTimeless: () => true,
  spot: pumpSwapSpot,
  traded,
  signedAsk,
  swap,

  errors: pumpSwapErrors,
};

function quote(state: PumpSwapState, ask: Ask): Quote<PumpSwapFill> {
  const { market, global, side, mints, lacksRecipients } = state;
  for (const mint of mints) {
    rejectUnsupported(mint);
    rejectTransferFee(mint, "pump_swap");
  }
  const buying = ask.inMint === market.mints[1];
  if (buying && global.buysDisabled) throw notTrading(market, "cannot be bought from: the program has buys turned off");
  if (!buying && global.sellsDisabled) throw notTrading(market, "cannot be sold to: the program has sells turned off");
  if (lacksRecipients) throw notTrading(market, UNPAYABLE);
  // The program counts the reserve in 64 bits, its virtual part included.
  if (side.tokens <= 0n || side.quote <= 0n || side.quote > U64_MAX) throw tooLarge(market);
  if (ask.amount === 0n) throw tooSmall();
  return buying ? quoteBuy(state, ask) : quoteSell(state, ask);
}

function quoteBuy(
  { market, side }: PumpSwapState,
  { mode, inMint, outMint, amount, amountsOnly }: Ask,
): Quote<PumpSwapFill> {
  const trade = mode === "exactIn" ? buyWithBudget(amount, side) : buyFromPool(amount, side);
  if (trade === undefined || trade.quote > U64_MAX || trade.tokens > U64_MAX) throw tooLarge(market);
  if (trade.tokens === 0n) throw tooSmall();
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.quote,
    outAmount: trade.tokens,
    priceImpact: amountsOnly ? 0 : priceImpact(trade.net, trade.tokens, side.tokens, side.quote),
    fill: { instruction: mode === "exactIn" ? "buyWithBudget" : "buy", amount, askedOut: 0n },
  };
}

function quoteSell(state: PumpSwapState, { mode, inMint, outMint, amount, amountsOnly }: Ask): Quote<PumpSwapFill> {
  const { market, side, payable } = state;
  const trade = mode === "exactIn" ? sellTokens(amount, side) : sellForQuote(amount, side);
  if (trade === undefined || paidByVault(trade, side) > payable || trade.tokens > U64_MAX) throw tooLarge(market);
  if (trade.quote <= 0n) throw tooSmall();
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.tokens,
    outAmount: trade.quote,
    priceImpact: amountsOnly ? 0 : priceImpact(trade.tokens, trade.net, side.quote, side.tokens),
    fill: { instruction: "sell", amount: trade.tokens, askedOut: amount },
  };
}

/** The pool with its reserves moved; the market capitalisation may have reached another fee tier. */
function traded(state: PumpSwapState, { mode, fill, outAmount }: Quote<PumpSwapFill>): PumpSwapState | undefined {
  const { side } = state;
  const buying = fill.instruction !== "sell";
  const trade = !buying
    ? sellTokens(fill.amount, side)
    : mode === "exactIn"
      ? buyWithBudget(fill.amount, side)
      : buyFromPool(outAmount, side);
  if (trade === undefined) return undefined;
  const tokens = buying ? side.tokens - trade.tokens : side.tokens + trade.tokens;
  const raised = buying ? heldByVault(trade, side) : -paidByVault(trade, side);
  const quote = side.quote + raised;
  const fees = state.feesAt(tokens, quote);
  if (fees === undefined) return undefined;
  return { ...state, side: { tokens, quote, fees }, payable: state.payable + raised };
}

/** A sale for an exact output is a sale of the quoted tokens for no less than what was asked. */
function signedAsk({ mode, fill }: Quote<PumpSwapFill>): SignedAsk {
  if (mode === "exactOut" && fill.instruction === "sell")
    return { mode: "exactIn", amount: fill.amount, bound: fill.askedOut };
  return { mode, amount: fill.amount };
}

function swap(state: PumpSwapState, { mode, fill }: Quote<PumpSwapFill>, terms: SwapTerms): SwapLeg {
  const { accounts, pool, market } = state;
  const selling = fill.instruction === "sell";
  const inverseSale = selling && mode === "exactOut";
  const amount = inverseSale && terms.threshold < fill.amount ? terms.threshold : fill.amount;
  const bound = inverseSale ? fill.askedOut : terms.threshold;
  const call = pumpSwapCall(fill.instruction, accounts, amount, bound, terms);
  const { volume, volumeQuote } = call;
  const creates: { readonly address: Address; readonly space: number }[] = [];
  let computeUnits = state.computeUnits[fill.instruction] + BUMP_STEP_UNITS * call.bumpSteps;
  // A sale touches the volume account for its cashback alone.
  if ((!selling || pool.cashback) && !terms.exists(volume.address)) {
    creates.push({ address: volume.address, space: USER_VOLUME_SIZE });
    computeUnits += selling ? VOLUME_CREATION_UNITS.sell : VOLUME_CREATION_UNITS.buy;
  }
  for (const { address, bump } of pool.cashback ? [accounts.vaultQuote, volumeQuote] : [accounts.vaultQuote]) {
    if (terms.exists(address)) continue;
    creates.push({ address, space: state.quoteAccountSize });
    computeUnits += state.quoteCreationUnits + 2 * BUMP_STEP_UNITS * (255 - bump);
  }
  const spareUnits = BUMP_STEP_UNITS * call.spareSteps;
  if (!pool.needsExtending) return { instructions: [call.instruction], computeUnits, spareUnits, creates };
  return {
    instructions: [extendPool(market.address, terms.wallet), call.instruction],
    computeUnits,
    spareUnits,
    creates,
    // The program takes the rent of every added byte, even if the pool holds more than its rent.
    grows: [{ address: market.address, from: pool.size, to: EXTENDED_POOL_SIZE }],
  };
}
