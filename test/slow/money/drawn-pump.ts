import { Address } from "../../../src/primitives/address.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { bondingCurveOf, PUMP_GLOBAL } from "../../../src/venues/pump-fun/layout.ts";
import type { Svm } from "../../support/svm.ts";
import { CURVE_SIZES, SCHEDULES, WITHOUT_CREATORS, writeCoin, writePumpSettings } from "../venues/support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "../venues/support/pump-swap.ts";
import { type Draw, type Drawing, depth, hasTransferFee, type Place, tokenOf } from "./market-draw.ts";

/** Where the settings list the token that coins may be quoted in, beside SOL. */
const QUOTE_OFFSET = 1_013;
/** The most that a creator may ask for. Bps. */
const MOST_CREATOR_FEE = 500n;
/** Bytes of today's account; some have grown from fewer. */
const POOL_SIZE = 300;

/** The coin of a pair and what it is quoted in: SOL if it is one of them. Undefined if a transfer fee keeps either from being that. */
function coinOf({ svm, random, mints }: Draw): { readonly coin: Address; readonly quote: Address } | undefined {
  const [first, second] = random.chance(0.5) ? mints : [mints[1], mints[0]];
  const coin = tokenOf(mints) ?? first;
  const quote = coin === first ? second : first;
  return [coin, quote].some((mint) => mint !== SOL_MINT && hasTransferFee(svm, mint)) ? undefined : { coin, quote };
}

const drawSettings = (random: Drawing) => ({
  schedules: random.chance(0.2) ? WITHOUT_CREATORS : SCHEDULES,
  creatorFeeConfigurable: random.chance(0.5),
  buybackBps: random.pick([0n, 2_000n, 10_000n]),
});

export function drawPumpCoin(draw: Draw): Place | undefined {
  const { svm, random, insider } = draw;
  const pair = coinOf(draw);
  if (pair === undefined) return undefined;
  const { coin: mint, quote: quoteMint } = pair;
  // A coin has one curve.
  if (svm.get(bondingCurveOf(mint).address) !== null) return undefined;
  const listed = quoteMint === SOL_MINT ? listedQuote(svm) : quoteMint;
  if (listedQuote(svm) !== undefined && listed !== listedQuote(svm)) return undefined;
  writePumpSettings(svm, { ...drawSettings(random), quoteMints: listed === undefined ? [] : [listed] });
  const realTokens = depth(random);
  const realQuote = random.chance(0.3) ? 0n : depth(random);
  const cashback = random.chance(0.3);
  const address = writeCoin(svm, {
    mint,
    quoteMint,
    virtualTokens: realTokens + depth(random),
    virtualQuote: realQuote + depth(random),
    realTokens,
    realQuote,
    creator: random.chance(0.5) ? insider : svm.newAddress(),
    withoutVault: random.chance(0.2),
    cashback,
    mayhem: random.chance(0.2),
    holderReward: random.chance(0.2),
    creatorFeeBps: !cashback && random.chance(0.3) ? random.between(1n, MOST_CREATOR_FEE) : 0n,
    owed: random.chance(0.2) ? random.magnitude(10n ** 9n) : 0n,
    // Coins quoted in tokens are younger than the layouts that do not say so.
    ...(quoteMint === SOL_MINT ? { size: random.pick(CURVE_SIZES) } : {}),
  });
  return { venue: "pump_fun", address, mints: [quoteMint, mint] };
}

function listedQuote(svm: Svm): Address | undefined {
  const settings = svm.get(PUMP_GLOBAL);
  const listed = settings === null ? SYSTEM_PROGRAM : Address.from(settings.data, QUOTE_OFFSET);
  return listed === SYSTEM_PROGRAM ? undefined : listed;
}

export function drawPumpPool(draw: Draw): Place | undefined {
  const { svm, random, insider } = draw;
  const pair = coinOf(draw);
  if (pair === undefined) return undefined;
  const { coin: base, quote } = pair;
  writePumpSwapSettings(svm, { ...drawSettings(random), quoteMint: quote });
  const size = random.pick([211, 243, 244, 245, 261, 271, ...Array<number>(10).fill(POOL_SIZE)]);
  const isCanonical = random.chance(0.8);
  const knows = (from: number): boolean => isCanonical && size >= from;
  const quoteAmount = depth(random);
  const cashback = knows(245) && random.chance(0.3);
  const hasCreator = knows(243) && (cashback || random.chance(0.7));
  const address = writePumpPool(svm, {
    base,
    quote,
    baseAmount: depth(random),
    quoteAmount,
    size,
    ...(isCanonical ? {} : { creator: svm.newAddress() }),
    ...(hasCreator ? { coinCreator: random.chance(0.7) ? insider : svm.newAddress() } : {}),
    withoutVault: random.chance(0.2),
    cashback,
    mayhem: knows(244) && random.chance(0.2),
    virtualQuote: knows(261) && random.chance(0.3) ? random.below(quoteAmount) : 0n,
    creatorFeeBps: knows(271) && !cashback && random.chance(0.3) ? random.between(1n, MOST_CREATOR_FEE) : 0n,
    holderReward: knows(271) && !cashback && random.chance(0.2),
  });
  return { venue: "pump_swap", address, mints: [quote, base] };
}
