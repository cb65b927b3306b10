import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import { associatedTokenAccount } from "../../src/solana/derived-address.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import {
  closeTokenAccount,
  createTokenAccount,
  requireBalance,
  transferLamports,
} from "../../src/solana/token/token-instructions.ts";
import { fillWrappedSol, openWrappedSol, seededAddress } from "../../src/solana/token/wrapped-sol.ts";
import { createAccountUnits, UNITS } from "../../src/trade/build/parts/compute-units.ts";
import { newTradedMint } from "../slow/venues/support/metadata-mint.ts";
import { newKey, newWallet } from "../slow/venues/support/random-keys.ts";
import { Svm } from "../support/svm.ts";

const TRIES = 60;

const random = createRandom(7);
const svm = new Svm();

function used(wallet: ReturnType<typeof newWallet>, instructions: readonly Instruction[]): number {
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...instructions]);
  expect(done.error).toBe("");
  return done.computeUnits - UNITS.computeBudget;
}

/** The bound holds in each attempt, and is tight. */
function judge(tries: readonly { readonly used: number; readonly bound: number }[]): void {
  expect(tries.filter(({ used, bound }) => used > bound)).toEqual([]);
  expect(tries.filter(({ used, bound }) => bound > 1.22 * used)).toEqual([]);
}

const tries = <T>(one: () => T): T[] => Array.from({ length: TRIES }, one);

describe("compute units of the instructions around a swap", () => {
  it.each([
    ["SPL", TOKEN_PROGRAM, undefined, false],
    ["Token-2022", TOKEN_2022_PROGRAM, undefined, false],
    ["Token-2022 with metadata", TOKEN_2022_PROGRAM, undefined, true],
    ["Token-2022 with a transfer fee", TOKEN_2022_PROGRAM, { bps: 100, maximum: 1_000n }, false],
    ["Token-2022 with a transfer fee and metadata", TOKEN_2022_PROGRAM, { bps: 100, maximum: 1_000n }, true],
  ] as const)("a token account of %s", (_, program, transferFee, metadata) => {
    const fee = transferFee === undefined ? {} : { transferFee };
    const made = tries(() => {
      const wallet = newWallet(svm, random);
      const mint = newTradedMint(svm, { decimals: 6, program, metadata, address: newKey(random), ...fee });
      const { address, bump } = associatedTokenAccount(wallet, mint, program);
      const created = used(wallet, [createTokenAccount(address, wallet, mint, program)]);
      const closed = used(wallet, [closeTokenAccount(address, wallet, program)]);
      const close = UNITS.closeEmptied;
      return {
        creation: { used: created, bound: createAccountUnits(decodeMint(svm.get(mint)!), bump) },
        closing: { used: closed, bound: program === TOKEN_PROGRAM ? close.base : close.token2022 },
      };
    });
    judge(made.map(({ creation }) => creation));
    judge(made.map(({ closing }) => closing));
  });

  it.each([
    ["SPL", TOKEN_PROGRAM],
    ["Token-2022", TOKEN_2022_PROGRAM],
  ] as const)("a token account of %s at an address that somebody has sent lamports to", (_, program) => {
    for (let round = 0; round < 20; round++) {
      const wallet = newWallet(svm, random);
      const mint = newTradedMint(svm, { decimals: 6, program, metadata: false, address: newKey(random) });
      const { address, bump } = associatedTokenAccount(wallet, mint, program);
      svm.setAccount({
        address,
        owner: SYSTEM_PROGRAM,
        data: new Uint8Array(0),
        lamports: svm.rent(round % 2 === 0 ? 0 : 400),
      });
      const most = createAccountUnits(decodeMint(svm.get(mint)!), bump) + UNITS.createTokenAccount.funded;
      const units = used(wallet, [createTokenAccount(address, wallet, mint, program)]);
      expect(units).toBeLessThanOrEqual(most);
    }
  });

  it("wrapped SOL in a temporary account", () => {
    const seed = "AbC-3f1_xYz";
    const rent = svm.rent(165);
    const made = tries(() => {
      const wallet = newWallet(svm, random);
      const account = seededAddress(wallet, seed, TOKEN_PROGRAM);
      const lamports = random.magnitude(1n << 36n);
      return {
        opening: {
          used: used(wallet, openWrappedSol({ account, wallet, seed, lamports, rent })),
          bound: UNITS.openWrappedSol,
        },
        guarding: {
          used: used(wallet, [
            requireBalance({
              account,
              owner: wallet,
              mint: SOL_MINT,
              tokenProgram: TOKEN_PROGRAM,
              amount: lamports,
              decimals: 9,
            }),
          ]),
          bound: UNITS.guardTotal,
        },
        closing: {
          used: used(wallet, [closeTokenAccount(account, wallet, TOKEN_PROGRAM)]),
          bound: UNITS.closeWrappedSol,
        },
      };
    });
    judge(made.map(({ opening }) => opening));
    judge(made.map(({ guarding }) => guarding));
    judge(made.map(({ closing }) => closing));
  });

  it("wrapped SOL in the wallet's own account", () => {
    const made = tries(() => {
      const wallet = newWallet(svm, random);
      const { address: account, bump } = associatedTokenAccount(wallet, SOL_MINT, TOKEN_PROGRAM);
      const { base, perBump } = UNITS.createTokenAccount;
      const lamports = random.magnitude(1n << 36n);
      return {
        used: used(wallet, fillWrappedSol({ account, wallet, lamports })),
        bound: base + perBump * (255 - bump) + UNITS.fillWrappedSol,
      };
    });
    judge(made);
  });

  it("a transfer of lamports", () => {
    const made = tries(() => {
      const wallet = newWallet(svm, random);
      const to = svm.setAccount({ address: newKey(random), owner: SYSTEM_PROGRAM, data: new Uint8Array(0) });
      return { used: used(wallet, [transferLamports(wallet, to, 1n)]), bound: UNITS.transfer };
    });
    judge(made);
  });
});
