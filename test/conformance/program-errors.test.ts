import { describe, expect, it } from "vitest";
import type { TransactionRecord } from "../../src/chain/port.ts";
import type { ErrorCode } from "../../src/errors/tradewire-error.ts";
import { ERRORS, TradewireError } from "../../src/errors/tradewire-error.ts";
import { failedOutcome } from "../../src/trade/submit/outcome/landed-failure.ts";
import { venues } from "../../src/venues/registry.ts";
import type { VenueId } from "../../src/venues/venue.ts";

/** The programs' own errors that a trade can meet, and what each means to a caller. Numbers and names of the programs' IDLs and sources. */
type Listed = readonly (readonly [number: number, name: string, code: ErrorCode])[];

const LISTED: Readonly<Record<VenueId, Listed>> = {
  pump_fun: [
    [6002, "TooMuchSolRequired", "SLIPPAGE_EXCEEDED"],
    [6003, "TooLittleSolReceived", "SLIPPAGE_EXCEEDED"],
    [6042, "BuySlippageBelowMinTokensOut", "SLIPPAGE_EXCEEDED"],
    [6021, "NotEnoughTokensToBuy", "INSUFFICIENT_LIQUIDITY"],
    [6023, "NotEnoughTokensToSell", "INSUFFICIENT_TOKEN_BALANCE"],
    [6040, "BuyNotEnoughSolToCoverRent", "INSUFFICIENT_SOL"],
    [6041, "BuyNotEnoughSolToCoverFees", "INSUFFICIENT_SOL"],
    [6005, "BondingCurveComplete", "NO_ROUTE"],
    [6081, "BondingCurveAlreadyMigrated", "NO_ROUTE"],
    [6057, "BuybackFeeRecipientNotAuthorized", "VENUE_DEGRADED"],
    [6062, "BuybackFeeRecipientMissing", "VENUE_DEGRADED"],
    [6063, "UnsupportedQuoteMint", "VENUE_DEGRADED"],
    [6072, "MissingCashbackAccounts", "VENUE_DEGRADED"],
    [6073, "InvalidCashbackAccumulator", "VENUE_DEGRADED"],
    [6074, "InvalidBondingCurveV2", "VENUE_DEGRADED"],
    [6075, "InvalidQuoteControl", "VENUE_DEGRADED"],
    [6076, "InvalidCashbackRecipient", "VENUE_DEGRADED"],
  ],
  pump_swap: [
    [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6040, "BuySlippageBelowMinBaseAmountOut", "SLIPPAGE_EXCEEDED"],
    [6003, "TooLittlePoolTokenLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6016, "BuyMoreBaseAmountThanPoolReserves", "INSUFFICIENT_LIQUIDITY"],
    [6063, "InsufficientRealQuoteReserves", "INSUFFICIENT_LIQUIDITY"],
    [6039, "BuyNotEnoughQuoteTokensToCoverFees", "INSUFFICIENT_TOKEN_BALANCE"],
    [6020, "DisabledBuy", "NO_ROUTE"],
    [6021, "DisabledSell", "NO_ROUTE"],
    [6013, "InvalidProtocolFeeRecipient", "VENUE_DEGRADED"],
    [6053, "BuybackFeeRecipientNotAuthorized", "VENUE_DEGRADED"],
    [6058, "BuybackFeeRecipientMissing", "VENUE_DEGRADED"],
    [6059, "MissingCashbackAccounts", "VENUE_DEGRADED"],
    [6060, "InvalidCashbackAccumulator", "VENUE_DEGRADED"],
    [6061, "InvalidCashbackAccumulatorAta", "VENUE_DEGRADED"],
    [6062, "InvalidPoolV2", "VENUE_DEGRADED"],
  ],
  raydium_amm_v4: [
    [30, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [40, "InsufficientFunds", "INSUFFICIENT_TOKEN_BALANCE"],
    [22, "InvalidStatus", "NO_ROUTE"],
  ],
  raydium_cpmm: [
    [6005, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6006, "ZeroTradingTokens", "INSUFFICIENT_LIQUIDITY"],
    [6012, "InsufficientVault", "INSUFFICIENT_LIQUIDITY"],
    [6000, "NotApproved", "NO_ROUTE"],
  ],
  raydium_clmm: [
    [6017, "PriceSlippageCheck", "SLIPPAGE_EXCEEDED"],
    [6018, "TooLittleOutputReceived", "SLIPPAGE_EXCEEDED"],
    [6019, "TooMuchInputPaid", "SLIPPAGE_EXCEEDED"],
    [6022, "TooSmallInputOrOutputAmount", "INSUFFICIENT_LIQUIDITY"],
    [6036, "InsufficientLiquidityForDirection", "INSUFFICIENT_LIQUIDITY"],
    [6016, "LiquidityInsufficient", "INSUFFICIENT_LIQUIDITY"],
    [6023, "NotEnoughTickArrayAccount", "SLIPPAGE_EXCEEDED"],
    [6024, "InvalidFirstTickArrayAccount", "SLIPPAGE_EXCEEDED"],
    [6035, "MissingTickArrayBitmapExtensionAccount", "SLIPPAGE_EXCEEDED"],
    [6000, "NotApproved", "NO_ROUTE"],
  ],
  raydium_launchlab: [
    [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6005, "PoolFunding", "NO_ROUTE"],
    [6006, "PoolMigrated", "NO_ROUTE"],
  ],
  meteora_dlmm: [
    [6003, "ExceededAmountSlippageTolerance", "SLIPPAGE_EXCEEDED"],
    [6004, "ExceededBinSlippageTolerance", "SLIPPAGE_EXCEEDED"],
    [6039, "InsufficientOutAmount", "SLIPPAGE_EXCEEDED"],
    [6007, "ZeroLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6009, "BinArrayNotFound", "INSUFFICIENT_LIQUIDITY"],
    [6012, "PairInsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6037, "CannotFindNonZeroLiquidityBinArrayId", "INSUFFICIENT_LIQUIDITY"],
    [6042, "PoolDisabled", "NO_ROUTE"],
    [6066, "InvalidStatus", "NO_ROUTE"],
    [6036, "BitmapExtensionAccountIsNotProvided", "VENUE_DEGRADED"],
    [6028, "NonContinuousBinArrays", "VENUE_DEGRADED"],
  ],
  meteora_damm_v1: [
    [6004, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6006, "ZeroTradingTokens", "INSUFFICIENT_LIQUIDITY"],
    [6015, "PoolDisabled", "NO_ROUTE"],
    [6050, "PreActivationSwapStarted", "NO_ROUTE"],
  ],
  meteora_damm_v2: [
    [6002, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6015, "PriceRangeViolation", "INSUFFICIENT_LIQUIDITY"],
    [6023, "InsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6003, "PoolDisabled", "NO_ROUTE"],
    [6025, "InvalidPoolStatus", "NO_ROUTE"],
    [6049, "FailToValidateSingleSwapInstruction", "NO_ROUTE"],
  ],
  meteora_dbc: [
    [6002, "ExceededSlippage", "SLIPPAGE_EXCEEDED"],
    [6012, "NotEnoughLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6033, "InsufficientLiquidity", "INSUFFICIENT_LIQUIDITY"],
    [6013, "PoolIsCompleted", "NO_ROUTE"],
    [6043, "FailToValidateSingleSwapInstruction", "NO_ROUTE"],
  ],
  orca_whirlpool: [
    [6036, "AmountOutBelowMinimum", "SLIPPAGE_EXCEEDED"],
    [6037, "AmountInAboveMaximum", "SLIPPAGE_EXCEEDED"],
    [6023, "InvalidTickArraySequence", "SLIPPAGE_EXCEEDED"],
    [6035, "ZeroTradableAmount", "INSUFFICIENT_LIQUIDITY"],
    [6038, "TickArraySequenceInvalidIndex", "INSUFFICIENT_LIQUIDITY"],
    [6057, "PartialFillError", "INSUFFICIENT_LIQUIDITY"],
    [6064, "TradeIsNotEnabled", "NO_ROUTE"],
  ],
};

const SYSTEM = "11111111111111111111111111111111";
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
const STRANGER = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
/** An error of no program of ours. */
const UNKNOWN = 7_777;

const invoke = (program: string, depth: number): string => `Program ${program} invoke [${depth}]`;
const failed = (program: string, number: number): string =>
  `Program ${program} failed: custom program error: 0x${number.toString(16)}`;
const named = (name: string, number: number): string =>
  `Program log: AnchorError thrown in programs/x/src/lib.rs:101. Error Code: ${name}. Error Number: ${number}. Error Message: words.`;

/** What a caller is told of a transaction that failed with these logs. */
function outcomeOf(logs: readonly string[], error: unknown = { InstructionError: [3, { Custom: 1 }] }) {
  const outcome = failedOutcome({ signature: "sig", slot: 5n, error }, { ...RECORD, error, logs }, venues);
  if (outcome.kind !== "failed") throw new Error("a failed transaction came out as landed");
  return outcome;
}

const RECORD: TransactionRecord = {
  slot: 5n,
  error: null,
  feeLamports: 5_000n,
  accounts: [],
  preBalances: [],
  postBalances: [],
  preTokenBalances: [],
  postTokenBalances: [],
  logs: [],
  computeUnitsConsumed: 1n,
};

describe.each(venues)("$id", (venue) => {
  const program = venue.programs[0]!.toString();

  it.each(LISTED[venue.id])("%i %s is %s", (number, name, code) => {
    const told = (logs: readonly string[]) => {
      const outcome = outcomeOf(logs);
      const { code: answer, message, facts } = outcome;
      expect(new TradewireError(answer, message, facts).retryable).toBe(false);
      expect(ERRORS[answer].http).toBe(422);
      return { ...outcome, code: facts.details?.reason ?? answer };
    };
    const anchor = told([invoke(program, 1), named(name, number), failed(program, number)]);
    expect(anchor.code).toBe(code);
    expect(anchor.facts.safeToRebuild).toBe(true);
    expect(anchor.facts.details).toMatchObject({ program, code: number, name });

    const numberOnly = told([invoke(program, 1), failed(program, number)]);
    expect(numberOnly.code).toBe(code);
    expect(numberOnly.facts.details).toMatchObject({ program, code: number });

    const inStranger = told([
      invoke(STRANGER, 1),
      invoke(program, 2),
      named(name, number),
      failed(program, number),
      failed(STRANGER, number),
    ]);
    expect(inStranger.code).toBe(code);
    expect(inStranger.facts.details).toMatchObject({ program });
  });

  it("means nothing by numbers of programs it calls", () => {
    const listed = LISTED[venue.id][0]!;
    const told = outcomeOf([
      invoke(program, 1),
      invoke(STRANGER, 2),
      failed(STRANGER, listed[0]),
      failed(program, listed[0]),
    ]);
    expect(told.code).toBe("PROGRAM_ERROR");
    expect(told.facts.details).toMatchObject({ program: STRANGER, code: listed[0] });
  });

  it("lays a transfer that lacks funds to the deepest program, by that program's meaning of 1", () => {
    const transfer = (inner: string) =>
      outcomeOf([invoke(program, 1), invoke(inner, 2), failed(inner, 1), failed(program, 1)]);
    expect(transfer(SYSTEM).code).toBe("INSUFFICIENT_SOL");
    expect(transfer(TOKEN).code).toBe("INSUFFICIENT_TOKEN_BALANCE");
    expect(transfer(TOKEN_2022).code).toBe("INSUFFICIENT_TOKEN_BALANCE");
    expect(transfer(TOKEN).facts.details).toMatchObject({ program: TOKEN, code: 1 });
  });

  it("answers an unknown error with the program, its number and its name", () => {
    const told = outcomeOf([invoke(program, 1), named("Novelty", UNKNOWN), failed(program, UNKNOWN)]);
    expect(told.code).toBe("PROGRAM_ERROR");
    expect(told.facts.details).toMatchObject({ program, code: UNKNOWN, name: "Novelty" });
  });

  it("lists no error without a number, and gives names and numbers one meaning", () => {
    for (const [number, name, code] of LISTED[venue.id]) {
      expect([venue.errors.byName[name] ?? code, venue.errors.byNumber[number]]).toEqual([code, code]);
    }
    expect(Object.keys(venue.errors.byNumber).length).toBeGreaterThanOrEqual(LISTED[venue.id].length);
  });
});

describe("failures outside the venues", () => {
  it("ends what landed with accounts the program no longer takes as PROGRAM_ERROR, and says why", () => {
    const pumpFun = venues.find(({ id }) => id === "pump_fun")!.programs[0]!.toString();
    const told = outcomeOf([
      invoke(pumpFun, 1),
      named("BuybackFeeRecipientNotAuthorized", 6057),
      failed(pumpFun, 6057),
    ]);
    expect(told).toMatchObject({ code: "PROGRAM_ERROR", facts: { details: { reason: "VENUE_DEGRADED" } } });
    expect(told.message).toContain("did not accept the accounts");
  });

  it("trusts a name over a number: numbers of CLMM moved when the program did", () => {
    const clmm = venues.find(({ id }) => id === "raydium_clmm")!.programs[0]!.toString();
    expect(outcomeOf([invoke(clmm, 1), named("TooLittleOutputReceived", 6022), failed(clmm, 6022)]).code).toBe(
      "SLIPPAGE_EXCEEDED",
    );
  });

  it("ignores a name that belongs to another failure than the one logged", () => {
    const [venue] = venues;
    const program = venue!.programs[0]!.toString();
    const told = outcomeOf([invoke(program, 1), named("TooMuchSolRequired", 6002), failed(program, UNKNOWN)]);
    expect(told.code).toBe("PROGRAM_ERROR");
    expect(told.facts.details).not.toHaveProperty("name");
  });

  it("knows failures that carry no number", () => {
    const program = venues[0]!.programs[0]!.toString();
    const told = outcomeOf([invoke(program, 1), `Program ${program} failed: exceeded CUs meter at BPF instruction`]);
    expect(told.code).toBe("PROGRAM_ERROR");
    expect(told.facts.details).toMatchObject({ program });
    expect(told.facts.details).not.toHaveProperty("code");
  });

  it.each([
    [SYSTEM, 1, "INSUFFICIENT_SOL"],
    [SYSTEM, 0, "PROGRAM_ERROR"],
    [TOKEN, 1, "INSUFFICIENT_TOKEN_BALANCE"],
    [TOKEN, 4, "PROGRAM_ERROR"],
    [TOKEN_2022, 1, "INSUFFICIENT_TOKEN_BALANCE"],
  ] as const)("%s failing with %i is %s", (program, number, code) => {
    expect(outcomeOf([invoke(program, 1), failed(program, number)]).code).toBe(code);
  });

  it("falls back to the runtime's own error where no program failed", () => {
    expect(outcomeOf([], { InsufficientFundsForRent: { account_index: 1 } }).code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "InsufficientFundsForFee").code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "AccountNotFound").code).toBe("INSUFFICIENT_SOL");
    expect(outcomeOf([], "MaxLoadedAccountsDataSizeExceeded").code).toBe("PROGRAM_ERROR");
    expect(outcomeOf(["Log truncated"], { InstructionError: [0, { Custom: 6002 }] }).code).toBe("PROGRAM_ERROR");
  });
});
