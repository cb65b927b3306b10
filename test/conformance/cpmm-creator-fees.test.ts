import { expect, it } from "vitest";
import { createRandom } from "../../src/primitives/random.ts";
import { binaryPath } from "../../src/sandbox/programs/manifest.ts";
import { type CreatorFeeOn, putCpmmConfigs, putCpmmPool } from "../../src/sandbox/world/cpmm.ts";
import { createWorldLedger } from "../../src/sandbox/world/genesis-ledger.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { CPMM_PROGRAM } from "../../src/venues/raydium-cpmm/layout.ts";
import { raydiumCpmm } from "../../src/venues/raydium-cpmm/venue.ts";
import { Svm } from "../support/svm.ts";
import { isWhole } from "../support/whole.ts";
import { WORLD_CLOCK } from "../support/world.ts";
import { judge, runTrades } from "./trades.ts";

/** On each pool. */
const TRADES = isWhole ? 60 : 24;
const AMOUNT = 9_876_543_210n;

// The public build of the real program is older than creator fees: these pools are compared with the stand-in alone.
it.each<[CreatorFeeOn, boolean]>([
  ["input", false],
  ["token0", false],
  ["token1", false],
  ["input", true],
  ["token0", true],
  ["token1", true],
])("is exact on a pool whose creator is paid in: %s, with a transfer fee: %s", (creatorFeeOn, taxed) => {
  const svm = new Svm(WORLD_CLOCK);
  svm.addProgram(CPMM_PROGRAM, binaryPath("raydium_cpmm"));
  const ledger = createWorldLedger();
  const creator = svm.newAddress();
  putCpmmConfigs(ledger, creator, creator);
  const mints = [svm.newAddress(), svm.newAddress()] as const;
  const plain = { decimals: 6, name: "Token", symbol: "TOK" };
  ledger.mint({ ...plain, mint: mints[0], program: TOKEN_PROGRAM });
  ledger.mint(
    taxed
      ? { ...plain, mint: mints[1], program: TOKEN_2022_PROGRAM, transferFee: { bps: 137, maximum: 5_000_000n } }
      : { ...plain, mint: mints[1], program: TOKEN_2022_PROGRAM },
  );
  const market = putCpmmPool(ledger, {
    config: 1,
    creator,
    sides: [
      { mint: mints[0], decimals: 6, amount: AMOUNT },
      { mint: mints[1], decimals: 6, amount: AMOUNT * 3n },
    ],
    openTime: 0n,
    epoch: WORLD_CLOCK.epoch,
    creatorFeeOn,
  });
  for (const account of ledger.accounts()) svm.setAccount(account);
  const wallet = svm.newWallet();
  const outcomes = runTrades({
    svm,
    venue: raydiumCpmm,
    market,
    wallet,
    random: createRandom(creatorFeeOn.length + (taxed ? 1 : 0)),
    count: TRADES,
    limit: (_, mode) => (mode === "exactIn" ? AMOUNT * 2n : AMOUNT),
    before: () => {
      for (const mint of mints) svm.setTokens(wallet, mint, 1n << 60n);
    },
  });
  const verdict = judge(outcomes);
  expect(verdict.faults).toEqual([]);
  expect(verdict.trades).toBeGreaterThan((TRADES * 2) / 3);
});
