import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { AccountView } from "../../solana/account.ts";
import { decodeOnce } from "../../solana/decode-once.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "../../solana/token/token-account.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { buyWithBudget, type PumpSide, sellForQuote, sellTokens } from "../curves/pump.ts";
import { extensionCount } from "../shared/mint-extensions.ts";
import { BUMP_STEP_UNITS, QUOTE_CREATION_UNITS, USER_VOLUME_SIZE } from "../shared/pump-costs.ts";
import { decodePumpFeeConfig, PUMP_FEE_PROGRAM, pumpFeesFor } from "../shared/pump-fees.ts";
import { degraded, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectTransferFee, rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import type { Ask, Quote, SignedAsk, SwapLeg, SwapTerms, Venue } from "../venue.ts";
import { pumpFunErrors } from "./errors.ts";
import { type PumpAccounts, type PumpInstruction, pumpAccounts, pumpFunSwap } from "./instruction.ts";
import {
  type BondingCurve,
  bondingCurveOf,
  decodeBondingCurve,
  decodePumpFunMarket,
  decodePumpGlobal,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_PROGRAM,
  type PumpFunMarket,
} from "./layout.ts";
import { buyTokens } from "./math.ts";

export interface PumpFunState {
  readonly market: PumpFunMarket;
  readonly curve: BondingCurve;
  /** The coin, and the quote token where it is not SOL. */
  readonly mints: readonly Mint[];
  readonly side: PumpSide;
  /** The fees of the same coin with other reserves; undefined if no schedule applies. */
  readonly feesAt: (tokens: bigint, quote: bigint) => PumpSide["fees"] | undefined;
  readonly accounts: PumpAccounts;
  /** Without the searches for derived addresses, and without creations. */
  readonly computeUnits: Readonly<Record<PumpInstruction, number>>;
  /** Bytes of an associated token account of the quote mint, and compute units of its creation. */
  readonly quoteAccountSize: number;
  readonly quoteCreationUnits: number;
}

/** The instruction, its first argument and, for inverse sells, the least output it accepts in place of the threshold. */
export interface PumpFunFill {
  readonly instruction: PumpInstruction;
  readonly amount: bigint;
  readonly askedOut: bigint;
  /** True if it takes the last token of the curve. */
  readonly completes?: boolean;
}

/**
 * The Pump bonding curve: virtual constant product, fees in the quote, native lamports for coins priced in SOL.
 *
 * The instructions are those of the newest official SDK (buy_v2, buy_exact_quote_in_v2, sell_v2); there is no instruction
 * that sells for an exact output, so an exactOut sale sells the least tokens that pay at least what was asked (its
 * `outAmount` is what is really paid) with the asked amount as the program's own minimum, and never more tokens than quoted:
 * slippage does not loosen it.
 * A buy may take the last token of the curve and complete it; one that asks for more is refused, for builds of the program
 * differ in what they do with it. The wallet's volume account, the creator's vault and, for coins priced in a token, a token
 * account of each are created at the wallet's expense where they are missing: rent.
 * Proven by execution on the program build that pump-rust-client 0.2.0 carries, and against pump-sdk 2.0.0. Which build is
 * deployed today is not known.
 */
export const pumpFun: Venue<PumpFunMarket, PumpFunState, PumpFunFill> = {
  id: "pump_fun",
  programs: [PUMP_PROGRAM, PUMP_FEE_PROGRAM],
  supports: { exactOut: true, token2022: true },

  /** Either mint may be the coin: its curve's address follows from it. */
  search({ a, b }) {
    return [
      {
        kind: "probe",
        addresses: [a, b].filter((mint) => mint !== SOL_MINT).map((mint) => bondingCurveOf(mint).address),
      },
    ];
  },

  decode: decodePumpFunMarket,

  needs(market, have) {
    const { mints, nativeSol } = market;
    return unread(have, [market.address, PUMP_GLOBAL, PUMP_FEE_CONFIG, mints[0], ...(nativeSol ? [] : [mints[1]])]);
  },

  read: readState,
  quote,
  traded,
  signedAsk,
  swap,

  errors: pumpFunErrors,
};

const pumpGlobalIn = decodeOnce(decodePumpGlobal);
const feeConfigIn = decodeOnce(decodePumpFeeConfig);

function readState(market: PumpFunMarket, have: AccountView): PumpFunState {
  const curve = decodeBondingCurve(requireAccount(have, market.address, "pump_fun", "bonding curve"));
  const global = pumpGlobalIn(requireAccount(have, PUMP_GLOBAL, "pump_fun", "settings account"));
  const config = feeConfigIn(requireAccount(have, PUMP_FEE_CONFIG, "pump_fun", "fee configuration"));
  if (curve === undefined || global === undefined || config === undefined) {
    throw degraded("pump_fun", `the accounts of ${market.address} do not have the known layout`);
  }
  const [baseMint, quoteMint] = market.mints;
  const base = requireMint(have, baseMint, "pump_fun");
  const quoteToken = market.nativeSol ? undefined : requireMint(have, quoteMint, "pump_fun");
  const quoteProgram = quoteToken?.program ?? TOKEN_PROGRAM;
  const extensions = [extensionCount(have, baseMint), extensionCount(have, quoteMint)] as const;
  const feeRecipients = curve.mayhem ? global.mayhemFeeRecipients : global.feeRecipients;
  if (feeRecipients.length === 0 || global.buybackFeeRecipients.length === 0) {
    throw degraded("pump_fun", "the settings account names no fee recipients");
  }
  const supply = curve.mayhem ? curve.tokenTotalSupply : base.supply;
  const ownRate = global.creatorFeeConfigurable && curve.creatorFeeBps !== 0n;
  const feesAt: PumpFunState["feesAt"] = (tokens, reserve) => {
    const fees = pumpFeesFor(config, quoteMint, tokens === 0n ? 0n : (reserve * supply) / tokens);
    if (fees === undefined) return undefined;
    const creator = curve.creator === SYSTEM_PROGRAM ? 0n : ownRate ? curve.creatorFeeBps : fees.creator;
    return { lp: 0n, protocol: fees.protocol, creator };
  };
  const fees = feesAt(curve.virtualTokens, curve.virtualQuote);
  if (fees === undefined) {
    throw degraded("pump_fun", `no fee schedule for coins priced in ${quoteMint}`);
  }
  return {
    market,
    curve,
    mints: quoteToken === undefined ? [base] : [base, quoteToken],
    side: { tokens: curve.virtualTokens, quote: curve.virtualQuote, fees },
    feesAt,
    computeUnits: unitsOf(market.nativeSol, base, quoteToken, extensions),
    quoteAccountSize: quoteToken?.accountSize ?? TOKEN_ACCOUNT_SIZE,
    quoteCreationUnits: quoteCreationUnitsOf(quoteToken, extensions[1]),
    accounts: pumpAccounts({
      curve: market.address,
      curveBump: bondingCurveOf(baseMint).bump,
      baseMint,
      baseProgram: base.program,
      quoteMint,
      quoteProgram,
      creator: curve.creator,
      feeRecipients,
      buybackRecipients: global.buybackFeeRecipients,
    }),
  };
}

function quote(state: PumpFunState, ask: Ask): Quote<PumpFunFill> {
  const { market, curve, side, mints } = state;
  if (curve.complete) {
    const migrated = curve.virtualTokens === 0n;
    throw notTrading(
      market,
      migrated ? "has completed and migrated to pump_swap" : "has completed and waits for its migration to pump_swap",
    );
  }
  for (const mint of mints) {
    rejectUnsupported(mint);
    rejectTransferFee(mint, "pump_fun");
  }
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
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.quote,
    outAmount: trade.tokens,
    priceImpact: priceImpact(trade.net, trade.tokens, side.tokens, side.quote),
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
  if (trade === undefined || trade.net > curve.realQuote || trade.tokens > U64_MAX) throw tooLarge(market);
  if (trade.quote <= 0n) throw tooSmall();
  return {
    mode,
    inMint,
    outMint,
    inAmount: trade.tokens,
    outAmount: trade.quote,
    priceImpact: priceImpact(trade.tokens, trade.net, side.quote, side.tokens),
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

function swap(state: PumpFunState, { mode, fill }: Quote<PumpFunFill>, terms: SwapTerms): SwapLeg {
  const { accounts, market, curve } = state;
  const inverseSale = fill.instruction === "sell" && mode === "exactOut";
  const amount = inverseSale && terms.threshold < fill.amount ? terms.threshold : fill.amount;
  const bound = inverseSale ? fill.askedOut : terms.threshold;
  const call = pumpFunSwap(fill.instruction, accounts, amount, bound, terms);
  const { volume, volumeQuote } = call;
  const { vault, vaultQuote } = accounts;
  const creates: { readonly address: Address; readonly space: number }[] = [];
  let computeUnits =
    state.computeUnits[fill.instruction] +
    (fill.completes === true ? COMPLETION_UNITS : 0) +
    BUMP_STEP_UNITS *
      (accounts.bumpSteps +
        call.bumpSteps +
        (255 - volume.bump) +
        (market.nativeSol ? 1 : 2) * (255 - volumeQuote.bump));
  if (!terms.exists(volume.address)) {
    creates.push({ address: volume.address, space: USER_VOLUME_SIZE });
    computeUnits += VOLUME_CREATION_UNITS;
  }
  if (curve.creator !== SYSTEM_PROGRAM && !curve.cashback && !terms.exists(vault.address, "system")) {
    creates.push({ address: vault.address, space: 0 });
    computeUnits += VAULT_CREATION_UNITS;
  }
  if (!market.nativeSol) {
    for (const { address, bump } of [volumeQuote, vaultQuote]) {
      if (terms.exists(address)) continue;
      creates.push({ address, space: state.quoteAccountSize });
      computeUnits += state.quoteCreationUnits + 2 * BUMP_STEP_UNITS * (255 - bump);
    }
  }
  return { instructions: [call.instruction], computeUnits, creates };
}

/** Measured on the program where nothing has to be created; for coins priced in SOL, and for those priced in a token. */
const NATIVE_UNITS: Readonly<Record<PumpInstruction, number>> = { buy: 73_500, buyWithBudget: 74_800, sell: 62_500 };
const TOKEN_QUOTED_UNITS: Readonly<Record<PumpInstruction, number>> = {
  buy: 87_000,
  buyWithBudget: 88_500,
  sell: 83_800,
};
/** Additions for a Token-2022 mint, and for each of its extensions. The quote is transferred several times. */
const BASE_2022_UNITS = 2_000;
const BASE_EXTENSION_UNITS = 480;
const QUOTE_2022_UNITS = 6_200;
const QUOTE_EXTENSION_UNITS = 1_350;
/** Addition for the buy that completes the curve. */
const COMPLETION_UNITS = 4_500;
/** Additions for the creation of each account. */
const VOLUME_CREATION_UNITS = 3_100;
const VAULT_CREATION_UNITS = 2_300;
const QUOTE_CREATION_2022_UNITS = 2_900;

function unitsOf(
  nativeSol: boolean,
  base: Mint,
  quoteToken: Mint | undefined,
  extensions: readonly [number, number],
): Readonly<Record<PumpInstruction, number>> {
  const extra =
    (base.program === TOKEN_PROGRAM ? 0 : BASE_2022_UNITS + BASE_EXTENSION_UNITS * extensions[0]) +
    (isToken2022(quoteToken) ? QUOTE_2022_UNITS + QUOTE_EXTENSION_UNITS * extensions[1] : 0);
  const { buy, buyWithBudget, sell } = nativeSol ? NATIVE_UNITS : TOKEN_QUOTED_UNITS;
  return { buy: buy + extra, buyWithBudget: buyWithBudget + extra, sell: sell + extra };
}

/** Addition for creating a token account of the quote mint, without the search for its address. */
function quoteCreationUnitsOf(quoteToken: Mint | undefined, extensions: number): number {
  return (
    QUOTE_CREATION_UNITS +
    (isToken2022(quoteToken) ? QUOTE_CREATION_2022_UNITS + QUOTE_EXTENSION_UNITS * extensions : 0)
  );
}

const isToken2022 = (mint: Mint | undefined): boolean => mint?.program === TOKEN_2022_PROGRAM;
