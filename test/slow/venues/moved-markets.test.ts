import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { classifyFailure, parseProgramFailure } from "../../../src/trade/submit/outcome/program-failure.ts";
import type { SwapMode } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { absentFor, REPLACEABLE_MARKETS } from "./support/replaceable-markets.ts";

/**
 * Trades that their market can no longer make after another's: the programs do not come to the bound that was signed, and name an
 * overflow or a violated condition instead. The caller learns that the price moved, or that the market holds too little.
 */
const HELD = 10n ** 18n;

interface Case {
  readonly name: string;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** What another puts in first. */
  readonly another: bigint;
  readonly logged: string;
  readonly code: string;
}

const CASES: readonly Case[] = [
  {
    name: "raydium_cpmm",
    mode: "exactIn",
    amount: 11n,
    another: 10n ** 15n,
    logged: "RequireGtViolated",
    code: "SLIPPAGE_EXCEEDED",
  },
  {
    name: "pump_swap",
    mode: "exactOut",
    amount: 2n,
    another: 12n * 10n ** 13n,
    logged: "Overflow",
    code: "SLIPPAGE_EXCEEDED",
  },
  {
    name: "pump_fun",
    mode: "exactOut",
    amount: 1n,
    another: 28n * 10n ** 13n,
    logged: "Overflow",
    code: "INSUFFICIENT_LIQUIDITY",
  },
  {
    name: "meteora_damm_v2",
    mode: "exactOut",
    amount: 10n ** 12n,
    another: 10n ** 17n,
    logged: "MathOverflow",
    code: "INSUFFICIENT_LIQUIDITY",
  },
];

describe("trades that another's trade makes impossible", () => {
  const kinds = CASES.map((one) => ({ ...one, kind: REPLACEABLE_MARKETS.find(({ name }) => name === one.name)! }));
  const present = kinds.filter(({ kind }) => absentFor(kind).length === 0);
  it.skipIf(present.length > 0)("no program is in .venues: nothing is traded", () => undefined);

  it.each(present)("$name names $logged: $code", ({ kind, mode, amount, another, logged, code }) => {
    const svm = new Svm();
    for (const [id, path] of [[kind.program, kind.main] as const, ...kind.calls]) svm.addProgram(id, path);
    const wallet = svm.newWallet(10n ** 17n);
    const { address, mints } = kind.place(svm, wallet);
    for (const mint of mints) svm.setTokens(wallet, mint, mint === SOL_MINT ? HELD / 100n : HELD);
    const accountOf = (mint: Address) => associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);
    const [inMint, outMint] = mints;
    const pair = { a: inMint, b: outMint };
    const legOf = (mode: SwapMode, amount: bigint, isLoose: boolean) => {
      const { state } = readMarket(svm, kind.venue, address, pair);
      const quote = kind.venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
      const least = isLoose ? 1n : quote.outAmount;
      return kind.venue.swap(state, quote, {
        wallet,
        source: accountOf(inMint),
        destination: accountOf(outMint),
        threshold: mode === "exactIn" ? least : quote.inAmount * 2n,
        salt: 0,
        exists: (one) => svm.get(one) !== null,
      });
    };
    const send = ({ instructions }: ReturnType<typeof legOf>) =>
      svm.send(wallet, [setComputeUnitLimit(1_400_000), ...instructions]);
    const signed = legOf(mode, amount, false);
    expect(send(legOf("exactIn", another, true)).ok).toBe(true);
    const { ok, logs } = send(signed);
    expect(ok).toBe(false);
    const failure = parseProgramFailure(logs)!;
    expect([failure.name, classifyFailure(failure, [kind.venue])]).toEqual([logged, code]);
  });
});
