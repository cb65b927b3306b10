import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";

const random = createRandom(211);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
const TOKENS = associatedTokenAddress(WALLET, MINT, TOKEN_PROGRAM);
const REQUEST = buyFor(WALLET, MINT);

/** A constant product whose swap takes the units, and writes accounts. */
const market = (computeUnits: number, depth = 10n ** 9n, accounts: readonly Address[] = []) =>
  fakeMarket({
    ...{ mint: MINT, address: address(), program: address(), computeUnits, accounts },
    give: (amount) => (depth * amount) / (depth + amount),
  });

const ALIKE = Array.from({ length: 3 }, () => market(463_000));

/** One service for a wallet whose account of the token is open, and as if it were not. */
function service(markets = ALIKE): { readonly open: BuildPorts; readonly closed: BuildPorts } {
  const tokens = { address: TOKENS, amount: 1n };
  const open = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets, tokens });
  const account = (one: Address) => (one === TOKENS ? null : open.markets.account(one));
  return { open, closed: { ...open, markets: { ...open.markets, account } } };
}

test("a wallet that opens an account, and has too few units left for a division, takes it from no other wallet", async () => {
  const alone = await buildTrade(service().open, REQUEST);
  const { open, closed } = service();
  const lighter = await buildTrade(closed, REQUEST);
  expect(lighter.estimates.outAmount).toBeLessThan(alone.estimates.outAmount);
  const after = await buildTrade(open, REQUEST);
  expect(after.estimates).toEqual(alone.estimates);
});

test.each([1, 3])("a division that fits beside no %i tips is taken from no trade without them", async (count) => {
  // 1,216 bytes where the account of the token is open.
  const markets = Array.from({ length: 3 }, () => market(50_000, 10n ** 9n, Array.from({ length: 9 }, address)));
  const { open, closed } = service(markets);
  const tips = Array.from({ length: count }, () => ({ to: address(), lamports: 1_000n }));
  const tipped: BuildPorts = { ...closed, senders: { choose: () => ({ senders: ["relay"], tips }) } };
  expect((await buildTrade(tipped, REQUEST)).route).toHaveLength(2);
  expect((await buildTrade(open, REQUEST)).route).toHaveLength(3);
});

test("what a division over many paths leaves out stays open to one over fewer", async () => {
  // The two deepest take all units; the others do with one of them.
  const markets = [
    market(740_000, 1_100_000_000n),
    market(650_000, 1_000_000_000n),
    market(335_000, 950_000_000n),
    market(335_000, 950_000_000n),
  ];
  const narrow = { ...REQUEST, maxPaths: 2 };
  const alone = await buildTrade(service(markets).open, narrow);
  const { open } = service(markets);
  const wide = await buildTrade(open, REQUEST);
  expect(wide.estimates.outAmount).toBeGreaterThan(alone.estimates.outAmount);
  expect((await buildTrade(open, narrow)).estimates).toEqual(alone.estimates);
});
