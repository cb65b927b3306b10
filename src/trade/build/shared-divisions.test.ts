import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Ask, Quote, Venue } from "../../venues/venue.ts";
import type { TradeRequest } from "../trade.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";

const random = createRandom(211);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
const TOKENS = associatedTokenAddress(WALLET, MINT, TOKEN_PROGRAM);
const clock = { slot: 1_000n, epoch: 2n, unixTimestamp: 1_795_000_000n };
const REQUEST: TradeRequest = {
  principal: { accountId: "account", keyId: "key", wallet: WALLET },
  inMint: SOL_MINT,
  outMint: MINT,
  mode: "exactIn",
  amount: 0.5,
  slippage: 0.01,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
};

/** A constant product whose swap takes the units. */
function market(computeUnits: number, depth = 10n ** 9n): HotMarket {
  const program = address();
  const venue = {
    id: "raydium_cpmm",
    supports: { exactOut: true, token2022: true },
    quote: (_state: unknown, ask: Ask): Quote => ({
      ...ask,
      inAmount: ask.amount,
      outAmount: (depth * ask.amount) / (depth + ask.amount),
      priceImpact: 0,
      fill: undefined,
    }),
    swap: () => ({
      instructions: [{ program, accounts: [], data: new Uint8Array(8) }],
      computeUnits,
      creates: [],
    }),
  } as unknown as Venue;
  return {
    venue,
    market: { venue: venue.id, address: address(), mints: [SOL_MINT, MINT], nativeSol: true },
    state: undefined,
    slot: 999n,
  };
}

const ALIKE = Array.from({ length: 3 }, () => market(463_000));

/** One service for a wallet whose account of the token is open, and as if it were not. */
function service(markets = ALIKE): { readonly open: BuildPorts; readonly closed: BuildPorts } {
  const tokens = { address: TOKENS, amount: 1n };
  const open = memoryPorts({ mint: MINT, clock, wallet: WALLET, markets, tokens });
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
