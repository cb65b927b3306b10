import { describe, expect, it } from "vitest";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { FEE_PROGRAM } from "../../../src/sandbox/world/pump-fees.ts";
import { PUMP_PROGRAM } from "../../../src/sandbox/world/pump-fun.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/sandbox/world/pump-swap.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import type { Instruction } from "../../../src/solana/instruction.ts";
import { derive } from "../../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { curveInstruction, olderCurveInstruction, readCurve } from "../../support/pump-curve.ts";
import { canonicalPool, migrateCurve } from "../../support/pump-migration.ts";
import { pumpPoolInstruction, readPumpPool } from "../../support/pump-pool.ts";
import type { Executed, Svm } from "../../support/svm.ts";
import { worldOnSvm } from "../../support/world.ts";
import { pumpBuildsOf } from "./support/pump-builds.ts";

/** The programs as releases of the crate pump-rust-client carry them. */
const BUILDS = pumpBuildsOf("pump_fun");
if (BUILDS.length === 0) console.log("pump stand-ins beside the real programs: skipped, those are not there");

const TRADES = 60;
const SEED = 9;
const PLENTY = 1n << 62n;

const KINDS = ["buy", "buyExactQuoteIn", "sell"] as const;

describe.skipIf(BUILDS.length === 0).each(BUILDS)("the pump stand-ins beside the real programs ($path)", (build) => {
  const addReal = (svm: Svm): void => {
    svm.addProgram(PUMP_PROGRAM, build.fun);
    svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
    svm.addProgram(FEE_PROGRAM, build.fees);
  };
  const { world } = worldOnSvm(SEED);
  // Both chains start from these accounts; whatever a trade changes in them is compared byte by byte.
  const watched = world.accounts.map((account) => account.address);

  for (const token of world.tokens) {
    if (token.venue !== "pump_fun" && token.venue !== "pump_swap") continue;
    it(`agree on ${token.symbol} (${token.venue})`, () => {
      const random = createRandom(31);
      const standIn = worldOnSvm(SEED).svm;
      const real = worldOnSvm(SEED).svm;
      addReal(real);
      const user = real.newWallet();
      standIn.newWallet();
      for (const svm of [real, standIn]) {
        svm.setTokens(user, token.mint, 1n << 40n);
        svm.setTokens(user, token.quoteMint, 1n << 50n);
      }
      const sizes =
        token.venue === "pump_fun"
          ? () => {
              const curve = readCurve(real, token.mint);
              return { tokens: curve.realToken / 4n, quote: curve.virtualQuote / 10n };
            }
          : () => {
              const pool = readPumpPool(real, token.market);
              return { tokens: pool.baseReserve / 4n, quote: pool.quoteReserve / 10n };
            };
      let succeeded = 0;
      for (let index = 0; index < TRADES; index++) {
        const isOlder = token.quoteMint === SOL_MINT && random.chance(0.5);
        const instructionOf = isOlder ? olderCurveInstruction : curveInstruction;
        const kind = random.pick(KINDS);
        const { tokens, quote } = sizes();
        const first = random.magnitude(kind === "buyExactQuoteIn" ? quote : kind === "sell" ? 1n << 40n : tokens);
        const tight = random.chance(0.15);
        const loose = kind === "buy" ? PLENTY : random.below(10n) === 0n ? 0n : 1n;
        const second = tight ? random.magnitude(kind === "buyExactQuoteIn" ? tokens : quote) : loose;
        const trade = { kind, first, second };
        const salt = random.u32() % 8;
        const build = (svm: Svm): Instruction =>
          token.venue === "pump_fun"
            ? instructionOf(readCurve(svm, token.mint), user, trade, salt)
            : pumpPoolInstruction(readPumpPool(svm, token.market), user, trade, salt);
        const expected = real.send(user, [build(real)]);
        const found = standIn.send(user, [build(standIn)]);
        const context = `trade ${index}: ${kind} ${first} ${second}`;
        expect(outcome(found), `${context}\n${expected.logs.join("\n")}\n${found.logs.join("\n")}`).toBe(
          outcome(expected),
        );
        expect(found.computeUnits, context).toBeLessThanOrEqual(expected.computeUnits);
        if (found.ok) succeeded++;
        for (const address of [...watched, user]) {
          expect(state(standIn, address), `${context}: ${address}`).toEqual(state(real, address));
        }
      }
      expect(succeeded).toBeGreaterThan(TRADES / 3);
    });
  }

  for (const symbol of ["BRINK", "DIME"]) {
    it(`move a completed curve to the same pool: ${symbol}`, () => {
      const chains = [worldOnSvm(SEED).svm, worldOnSvm(SEED).svm];
      addReal(chains[0]!);
      const coin = world.tokens.find((token) => token.symbol === symbol)!;
      const [expected, found] = chains.map((svm) => {
        const curve = readCurve(svm, coin.mint);
        const user = svm.newWallet();
        svm.setTokens(user, coin.mint, 0n);
        svm.setTokens(user, coin.quoteMint, 1n << 50n);
        const everything = { kind: "buy", first: curve.realToken, second: PLENTY } as const;
        expect(outcome(svm.send(user, [curveInstruction(curve, user, everything, 0)]))).toBe("ok");
        const withdrawAuthority = Address.from(svm.get(derive(PUMP_PROGRAM, "global"))!.data, 113);
        const completed = { mint: coin.mint, mintProgram: coin.program, quoteMint: coin.quoteMint };
        const migration = migrateCurve({ ...completed, quoteProgram: TOKEN_PROGRAM, withdrawAuthority }, user);
        const done = svm.send(user, [setComputeUnitLimit(400_000), migration]);
        expect(outcome(done), done.logs.join("\n")).toBe("ok");
        return [readPumpPool(svm, canonicalPool(coin.mint, coin.quoteMint)), state(svm, curve.address)];
      });
      expect(found).toEqual(expected);
    });
  }
});

function state(svm: Svm, address: Address): unknown {
  const account = svm.get(address);
  return account === null ? null : [account.lamports, Buffer.from(account.data).toString("hex")];
}

/** How it ended: fine, or with an error number. */
function outcome(executed: Executed): string {
  if (executed.ok) return "ok";
  return executed.logs.join("\n").match(/custom program error: (0x[0-9a-f]+)/)?.[1] ?? "stopped";
}
