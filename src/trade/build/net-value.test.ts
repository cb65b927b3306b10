import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import type { Ask, Quote, SwapTerms, Venue } from "../../venues/venue.ts";
import type { BuiltTrade, TradeRequest } from "../trade.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";
import { walletTokenAccount } from "./wallet-accounts.ts";

const random = createRandom(41);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, DIRECT, TO_HUB, FROM_HUB] = Array.from({ length: 5 }, address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

/** Markets that give the same share of every input, in millionths, and are never moved. */
const venue = {
  id: "raydium_cpmm",
  supports: { exactOut: true, token2022: true },
  quote: (millionths: bigint, ask: Ask): Quote => {
    const exactIn = ask.mode === "exactIn";
    const inAmount = exactIn ? ask.amount : (ask.amount * 1_000_000n + millionths - 1n) / millionths;
    const outAmount = exactIn ? (ask.amount * millionths) / 1_000_000n : ask.amount;
    return { ...ask, inAmount, outAmount, priceImpact: 0, fill: undefined } as Quote;
  },
  swap: () => ({
    instructions: [{ program: DIRECT, accounts: [], data: new Uint8Array(8) }],
    computeUnits: 10_000,
    creates: [],
  }),
} as unknown as Venue;

const marketAt = (pool: Address, mints: readonly [Address, Address], millionths: bigint): HotMarket => ({
  venue,
  market: { venue: "raydium_cpmm", address: pool, mints, nativeSol: true },
  state: millionths,
  slot: 900n,
});

/** A token against SOL, and against USDC where it is this much cheaper, in millionths, for a wallet that holds some of it. */
function portsOf(gain: bigint, holdsUsdc: boolean): BuildPorts {
  const tokens = { address: associatedTokenAddress(WALLET, MINT, TOKEN_PROGRAM), amount: 1_000_000_000n };
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [], tokens });
  const known = (markets: readonly HotMarket[]): PairMarkets => ({ markets, faults: [], searched: [] });
  const pairs: readonly (readonly [Address, Address, PairMarkets])[] = [
    [SOL_MINT, MINT, known([marketAt(DIRECT, [SOL_MINT, MINT], 1_000_000n)])],
    [SOL_MINT, USDC_MINT, known([marketAt(TO_HUB, [SOL_MINT, USDC_MINT], 1_000_000n)])],
    [USDC_MINT, MINT, known([marketAt(FROM_HUB, [USDC_MINT, MINT], 1_000_000n + gain)])],
  ];
  const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }) =>
    pairs.find(([from, to]) => (from === a && to === b) || (from === b && to === a))?.[2] ?? known([]);
  const usdc = { ...(ports.markets.mint(MINT) as object), address: USDC_MINT } as never;
  const open = walletTokenAccount(WALLET, usdc)!.address;
  const account = { address: open, owner: TOKEN_PROGRAM, lamports: 2_039_280n, data: new Uint8Array(165) };
  return {
    ...ports,
    markets: {
      ...ports.markets,
      marketsOf,
      knownMarkets: marketsOf,
      mint: (mint) => (mint === USDC_MINT ? usdc : ports.markets.mint(mint)),
      account: (asked) =>
        asked === open && holdsUsdc ? (account as unknown as Account) : ports.markets.account(asked),
    },
  };
}

const REQUEST: TradeRequest = { ...buyFor(WALLET, MINT, 1), slippage: 0 };

const marketsOf = async (ports: BuildPorts, changes: Partial<TradeRequest> = {}) =>
  ((await buildTrade(ports, { ...REQUEST, ...changes })) as BuiltTrade).route.map(({ market }) => market);

// A USDC account costs 2,039,280 lamports: 0.2 % of 1 SOL.
test.each([
  ["gains less than the account of its hub costs", 1_000n, false, 1, [DIRECT]],
  ["gains more than that", 4_000n, false, 1, [TO_HUB, FROM_HUB]],
  ["gains less, for a wallet that has the account", 1_000n, true, 1, [TO_HUB, FROM_HUB]],
  ["gains less of a small trade", 4_000n, false, 0.1, [DIRECT]],
  ["gains less of a large trade", 1_000n, false, 10, [TO_HUB, FROM_HUB]],
])("a route through a hub that %s", async (_what, gain, holdsUsdc, amount, route) => {
  expect(await marketsOf(portsOf(gain, holdsUsdc), { amount })).toEqual(route);
  expect(await marketsOf(portsOf(gain, holdsUsdc), { amount, mode: "exactOut" })).toEqual(route);
});

test.each([
  ["gains less than the account of its hub costs", 1_000n, false, [DIRECT]],
  ["gains more than that", 4_000n, false, [FROM_HUB, TO_HUB]],
  ["gains less, for a wallet that has the account", 1_000n, true, [FROM_HUB, TO_HUB]],
])(
  "a sale of everything through a hub that %s: the account that it closes pays for none",
  async (_what, gain, holdsUsdc, route) => {
    const sale = { inMint: MINT, outMint: SOL_MINT, sellPercent: 100 };
    expect(await marketsOf(portsOf(gain, holdsUsdc), sale)).toEqual(route);
  },
);

/** A market of the token that gives this share, in millionths, and whose swap opens an account of so many bytes. */
function openingMarket(opened: Address, millionths: bigint, space = 165): HotMarket {
  const hot = marketAt(address(), [SOL_MINT, MINT], millionths);
  const swap = (_state: unknown, _quote: Quote, { exists }: SwapTerms) => ({
    instructions: [{ program: DIRECT, accounts: [], data: new Uint8Array(8) }],
    computeUnits: 10_000,
    creates: exists(opened) ? [] : [{ address: opened, space }],
  });
  return { ...hot, venue: { ...hot.venue, swap } as Venue };
}

const openAt = (at: Address) => ({ address: at, owner: DIRECT, lamports: 1n, data: new Uint8Array(165) }) as Account;

// The account costs 0.15 % of 1 SOL.
test.each([2, 12])(
  "the best of %i markets whose swap opens an account is taken if it gains more than that costs",
  async (count) => {
    const opened = address();
    const others = Array.from({ length: count - 1 }, (_, place) =>
      marketAt(address(), [SOL_MINT, MINT], 999_000n - 1_000n * BigInt(place)),
    );
    const markets = [openingMarket(opened, 1_000_000n), ...others];
    const [best, next] = markets.map(({ market }) => market.address);
    const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets });
    const account = (asked: Address) => (asked === opened ? openAt(opened) : ports.markets.account(asked));
    for (const mode of ["exactIn", "exactOut"] as const) {
      expect(await marketsOf(ports, { mode })).toEqual([next]);
      expect(await marketsOf(ports, { mode, amount: 10 })).toEqual([best]);
      expect(await marketsOf({ ...ports, markets: { ...ports.markets, account } }, { mode })).toEqual([best]);
    }
  },
);

// The best one's account costs 0.15 % of 1 SOL, as much as the one that receives, which every market's trade opens.
test.each(["exactIn", "exactOut"] as const)(
  "markets too far behind the best one to make up for its account are neither quoted nor composed, %s",
  (mode) => {
    const quoted: Address[] = [];
    const composed: Address[] = [];
    const markets = Array.from({ length: 12 }, (_, place) => {
      const hot =
        place === 0
          ? openingMarket(address(), 1_000_000n)
          : marketAt(address(), [SOL_MINT, MINT], 998_500n - 100n * BigInt(place));
      const counted = {
        ...hot.venue,
        quote: (state: unknown, ask: Ask) => {
          quoted.push(hot.market.address);
          return hot.venue.quote(state, ask);
        },
        swap: (...asked: Parameters<Venue["swap"]>) => {
          composed.push(hot.market.address);
          return hot.venue.swap(...asked);
        },
      };
      return { ...hot, venue: counted as Venue, isTimeless: true };
    });
    const best = markets[0]!.market.address;
    const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets });
    // The first builds find the bounds.
    for (let made = 0; made < 4; made++) buildTrade(ports, { ...REQUEST, mode });
    quoted.length = composed.length = 0;
    buildTrade(ports, { ...REQUEST, mode });
    expect({ quoted, composed }).toEqual({ quoted: [best], composed: [best] });
  },
);

test("an account that only the route taken instead opens is read before its rent is promised", async () => {
  const [opened, exists] = [address(), address()];
  // The first one's swap opens an account; so would the next one's, were its account not there.
  const markets = [openingMarket(opened, 1_000_000n), openingMarket(exists, 999_900n, 10)];
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets });
  const onChain = new Map([
    [opened, null],
    [exists, openAt(exists)],
  ]);
  const read = new Set<Address>();
  const account = (asked: Address) => {
    const found = onChain.get(asked);
    return found === undefined ? ports.markets.account(asked) : read.has(asked) ? found : undefined;
  };
  const warm = async (asked: readonly Address[]) => {
    for (const one of asked) read.add(one);
  };
  const built = await buildTrade({ ...ports, markets: { ...ports.markets, account, warm } }, REQUEST);
  expect(built.route.map(({ market }) => market)).toEqual([markets[1]!.market.address]);
  // Of the account that receives, alone.
  expect(built.costs.rentPaid).toBe(ports.head.rentExemption(165));
});
