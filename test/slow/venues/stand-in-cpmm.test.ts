import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { minOf, U64_MAX } from "../../../src/primitives/integer.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { binaryPath } from "../../../src/sandbox/programs/manifest.ts";
import { CPMM_PROGRAM, putCpmmConfigs, putCpmmPool } from "../../../src/sandbox/world/cpmm.ts";
import { createWorldLedger } from "../../../src/sandbox/world/genesis-ledger.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { type CpmmPool, type CpmmSwap, cpmmInstruction, readCpmmPool } from "../../support/cpmm-instruction.ts";
import { type Executed, Svm } from "../../support/svm.ts";
import { WORLD_CLOCK, worldOnSvm } from "../../support/world.ts";

const FOLDER = ".venues";
const PROGRAM = `${FOLDER}/raydium_cpmm.so`;
const present = existsSync(PROGRAM);
if (!present) console.log(`CPMM stand-in beside the real program: skipped, ${PROGRAM} is not there`);

const TRADES_PER_POOL = 60;
const REQUIRE_GT_VIOLATED = "0x9c9";

/** Reserves and mints the default world does not reach: extremes of size, fees on both sides, caps. */
const SHAPES = [
  { name: "two large reserves", amounts: [1n << 61n, 1n << 60n], fees: [undefined, undefined] },
  { name: "few units on one side", amounts: [5_000n, 7_000_000_000_000_000n], fees: [undefined, undefined] },
  { name: "two transfer fees", amounts: [1n << 45n, 1n << 45n], fees: [fee(1, 1n << 62n), fee(9_999, 777n)] },
  { name: "capped transfer fee", amounts: [1n << 42n, 1n << 47n], fees: [undefined, fee(500, 12_345n)] },
  { name: "whole transfer withheld up to a cap", amounts: [1n << 40n, 1n << 33n], fees: [fee(10_000, 4n), undefined] },
] as const;

function fee(bps: number, maximum: bigint) {
  return { bps, maximum };
}

/** The same chain twice: once on the real program, once on the stand-in. */
interface Twins {
  readonly real: Svm;
  readonly standIn: Svm;
}

describe.skipIf(!present)("the CPMM stand-in beside the real program", () => {
  const twins: Twins = { real: worldOnSvm(7, FOLDER).svm, standIn: worldOnSvm(7).svm };
  const { tokens } = worldOnSvm(7).world;
  for (const token of tokens) {
    // The public build of the real program is older than creator fees.
    if (token.venue !== "raydium_cpmm" || token.symbol === "GUILD") continue;
    it(`agrees on ${token.symbol} at ${token.market}`, () => {
      expectAgreement(twins, token.market, createRandom(11));
    });
  }

  for (const [index, shape] of SHAPES.entries()) {
    for (const config of [0, 1, 3]) {
      it(`agrees on ${shape.name}, fee configuration ${config}`, () => {
        const real = new Svm(WORLD_CLOCK);
        const standIn = new Svm(WORLD_CLOCK);
        real.addProgram(CPMM_PROGRAM, PROGRAM);
        standIn.addProgram(CPMM_PROGRAM, binaryPath("raydium_cpmm"));
        const pools = [real, standIn].map((svm) => putShape(svm, shape, config));
        expectAgreement({ real, standIn }, pools[0]!, createRandom(100 * config + index));
      });
    }
  }
});

function putShape(svm: Svm, shape: (typeof SHAPES)[number], config: number): Address {
  const ledger = createWorldLedger();
  const owner = svm.newAddress();
  putCpmmConfigs(ledger, owner, owner);
  const sides = shape.amounts.map((amount, side) => {
    const transferFee = shape.fees[side];
    const mint = svm.newAddress();
    const program = transferFee === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
    const plan = { mint, program, decimals: 6, name: "Token", symbol: "TOK" };
    ledger.mint(transferFee === undefined ? plan : { ...plan, transferFee });
    return { mint, decimals: 6, amount };
  });
  const pool = putCpmmPool(ledger, {
    config,
    creator: owner,
    sides: [sides[0]!, sides[1]!],
    openTime: 0n,
    epoch: WORLD_CLOCK.epoch,
  });
  for (const account of ledger.accounts()) svm.setAccount(account);
  return pool;
}

/** Random trades of every size, sent to both: same answer, same error, same balances, same fee counters. */
function expectAgreement({ real, standIn }: Twins, market: Address, random: Random): void {
  const pool = readCpmmPool(market, real.get(market)!.data);
  const wallet = real.newWallet();
  standIn.newWallet();
  let succeeded = 0;
  for (let trade = 0; trade < TRADES_PER_POOL; trade++) {
    for (const svm of [real, standIn]) {
      pool.vaults.forEach((vault, side) => {
        const held = svm.tokens(vault);
        svm.setTokens(wallet, pool.mints[side]!, minOf(held * 1_000n, U64_MAX - held));
      });
    }
    const swap = randomSwap(real, pool, random);
    const expected = real.send(wallet, [cpmmInstruction(pool, wallet, swap)]);
    // Builds before August 2025 round an input under half a unit to nothing and refuse it; the current source takes one unit.
    if (swap.kind === "swapBaseOutput" && outcome(expected) === REQUIRE_GT_VIOLATED) continue;
    const found = standIn.send(wallet, [cpmmInstruction(pool, wallet, swap)]);
    const context = `trade ${trade}: ${swap.kind} ${swap.first} ${swap.second} from side ${swap.side}`;
    expect(outcome(found), `${context}\n${found.logs.join("\n")}`).toBe(outcome(expected));
    expect(balances(standIn, pool, wallet), context).toEqual(balances(real, pool, wallet));
    expect(standIn.get(market)!.data, context).toEqual(real.get(market)!.data);
    expect(found.computeUnits, context).toBeLessThanOrEqual(expected.computeUnits);
    if (found.ok) succeeded++;
  }
  expect(succeeded).toBeGreaterThan(TRADES_PER_POOL / 4);
}

function randomSwap(svm: Svm, pool: CpmmPool, random: Random): CpmmSwap {
  const side = random.chance(0.5) ? 0 : 1;
  const input = svm.tokens(pool.vaults[side]);
  const output = svm.tokens(pool.vaults[side === 0 ? 1 : 0]);
  if (random.chance(0.5)) {
    const least = random.chance(0.15) ? random.magnitude(output) : 0n;
    return { kind: "swapBaseInput", side, first: random.magnitude(minOf(input * 20n, U64_MAX - input)), second: least };
  }
  const most = random.chance(0.15) ? random.magnitude(input) : U64_MAX;
  return { kind: "swapBaseOutput", side, first: most, second: random.magnitude(output - 1n) };
}

/** How it ended: fine, with an error number, or stopped without one. */
function outcome(executed: Executed): string {
  if (executed.ok) return "ok";
  const number = executed.logs.join("\n").match(/custom program error: (0x[0-9a-f]+)/)?.[1];
  return number ?? "stopped";
}

function balances(svm: Svm, pool: CpmmPool, wallet: Address): unknown {
  return [
    ...pool.vaults.map((vault) => svm.tokens(vault)),
    ...pool.mints.map((mint, side) => svm.tokens(associatedTokenAddress(wallet, mint, pool.tokenPrograms[side]!))),
  ];
}
