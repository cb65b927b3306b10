import { expect, test } from "vitest";
import { checkOnNode } from "../../../src/client/node/check-on-node.ts";
import { proveTrade } from "../../../src/client/proof/prove-trade.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { appendExtensions } from "../venues/support/extended-mint.ts";
import { worseThan } from "./execution.ts";
import { type ProgramWorld, programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";
import { worldNode } from "./world-node.ts";

/** Half of what is transferred. */
const FEE_BPS = 5_000;
const SCALED = "orca_whirlpool, scaled amounts";
const WORLDS = ["pump_fun, cashback, Token-2022", "pump_swap, cashback, Token-2022", "meteora_dbc, Token-2022", SCALED];

/**
 * Gives the coin of a world a transfer fee behind what its mint has, as only `orca_whirlpool` makes markets of. Returns what takes it
 * away again.
 */
function taxCoin({ svm, pair }: ProgramWorld): () => void {
  const [, address] = pair;
  const { data: plain } = svm.get(address)!;
  const fee = new Uint8Array(108);
  const view = new DataView(fee.buffer);
  for (const at of [72, 90]) {
    view.setBigUint64(at + 8, 1n << 62n, true);
    view.setUint16(at + 16, FEE_BPS, true);
  }
  appendExtensions(svm, address, [[1, fee]]);
  return () => svm.setAccount({ address, owner: TOKEN_2022_PROGRAM, data: plain });
}

/** A first buy of the coin: its account is made in the transaction, with room for the fee. */
async function firstBuy(random: Random, world: ProgramWorld, swapMode: string): Promise<WorldBuild> {
  for (;;) {
    const build = await buildInWorld(random, world);
    if (build?.form !== "first buy" || build.order.swapMode !== swapMode) continue;
    const isBuy = Address.of(build.order.outputMint) === world.pair[1];
    if (isBuy && build.order.slippage < 0.1 && BigInt(build.answer.estimates!.outputAmountRaw) > 10_000n) return build;
  }
}

const present = WORLDS.filter((name) => WORLD_NAMES.includes(name));

test.runIf(present.length > 0)("a transfer fee that a venue's bound leaves out is never taken as proven", async () => {
  const random = createRandom(2022);
  for (const name of present) {
    const world = programWorld(name);
    for (const swapMode of ["exactIn", "exactOut"]) {
      const build = await firstBuy(random, world, swapMode);
      const { wallet, order, answer, decimals, wire } = build;
      const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
      const transaction = readTransaction(wire);
      expect(findProblems(transaction, expected), name).toEqual([]);
      // The caller's own minimum is the strictest: the estimate itself.
      const limits = { minOutputRaw: answer.estimates!.outputAmountRaw, maxInputRaw: `${2n ** 63n}` };
      const rentPaid = BigInt(answer.costs!.rentPaid!);
      const { slippage } = order;
      const trade = { wire, transaction, expected, slippage, sellPercent: undefined, rentPaid, order, limits };
      const claimed = { ...trade, estimates: answer.estimates! };
      const node = { check: () => checkOnNode(worldNode(world), trade, undefined) } as never;
      const prove = (witness: undefined | typeof node, requireProof: boolean) =>
        proveTrade(
          claimed,
          { node: witness, reference: undefined, tolerance: undefined, requireProof },
          new AbortController().signal,
        );
      expect((await prove(undefined, false)).unproven, name).toEqual(["transferFee"]);
      await expect(prove(undefined, true), name).rejects.toMatchObject({ code: "UNPROVEN" });
      expect((await prove(node, true)).unproven, name).toEqual([]);

      const untax = taxCoin(world);
      expect(worseThan(expected, executeInWorld(build, wire)), `${name} ${swapMode}`).toContain("arrived");
      // A node is asked again before it contradicts: once is enough to see it.
      if (swapMode === "exactIn") {
        await expect(prove(node, false), name).rejects.toMatchObject({
          problems: [
            expect.objectContaining({ reason: expect.stringMatching(/base units arrive, but the order requires/) }),
            // The account needs room for the fee, which the service did not know of.
            expect.objectContaining({ reason: expect.stringMatching(/of rent, but the service announced/) }),
            ...(name === SCALED
              ? [expect.objectContaining({ reason: expect.stringMatching(/fee stands behind an extension/) })]
              : []),
          ],
        });
      }
      untax();
    }
  }
});
