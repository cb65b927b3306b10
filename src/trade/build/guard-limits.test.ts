import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { buildTrade } from "./build-trade.ts";

const random = createRandom(175);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
const HELD = 100_000_000_000n;

/** The venues of a sale for SOL that is best divided between two markets, the swap of each of which takes the units. */
async function venuesOf(computeUnits: number, totalGuard: boolean): Promise<string> {
  const markets = ["one", "two"].map((id) =>
    fakeMarket({
      ...{ mint: MINT, address: address(), program: address(), id, computeUnits, nativeSol: false },
      give: (amount) => (amount * HELD) / (amount + HELD),
    }),
  );
  const tokens = { address: associatedTokenAddress(WALLET, MINT, TOKEN_PROGRAM), amount: HELD };
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets, tokens });
  const sale = { ...buyFor(WALLET, MINT, 50), inMint: MINT, outMint: SOL_MINT, totalGuard };
  const { platform } = await buildTrade(ports, sale);
  return platform;
}

test("a division that has room for everything but the guard of its total is built without it", async () => {
  let [fits, not] = [690_000, 700_000];
  while (not - fits > 40) {
    const units = (fits + not) >> 1;
    if ((await venuesOf(units, false)).includes("+")) fits = units;
    else not = units;
  }
  expect(fits).toBeGreaterThan(690_000);
  expect(await venuesOf(fits, true)).toContain("+");
});
