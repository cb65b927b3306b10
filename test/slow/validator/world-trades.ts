import type { BuiltResponse } from "../../../src/client/answers/answers.ts";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import type { World } from "../../../src/sandbox/world/world.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";

/** A trade to be made, in order. */
export interface PlannedTrade {
  readonly what: string;
  build(client: Tradewire): Promise<BuiltResponse>;
}

const TERMS = { slippage: 0.05, priority: "fast" } as const;

/** The tokens of the world that trade against SOL, each mint once. */
export function solTokens(world: World): readonly { readonly mint: string; readonly symbol: string }[] {
  const tokens = world.tokens.filter(({ quoteMint }) => quoteMint === SOL_MINT);
  return [...new Map(tokens.map(({ mint, symbol }) => [mint.toString(), symbol]))].map(([mint, symbol]) => ({
    mint,
    symbol,
  }));
}

/** Buys, swaps in both modes and both directions, and sales of one token, the last of everything. */
export function tokenTrades({ mint, symbol }: { readonly mint: string; readonly symbol: string }): PlannedTrade[] {
  return [
    {
      what: `buy ${symbol} for 0.1 SOL`,
      build: (client) => client.buildBuy({ ...TERMS, mint, solAmount: 0.1 }),
    },
    {
      what: `swap SOL for exactly 2 ${symbol}`,
      build: (client) =>
        client.buildSwap({
          ...TERMS,
          priority: "faster",
          inputMint: "SOL",
          outputMint: mint,
          amount: 2,
          swapMode: "exactOut",
        }),
    },
    {
      what: `sell 1 ${symbol}`,
      build: (client) => client.buildSell({ ...TERMS, priority: "economy", mint, tokenAmount: 1 }),
    },
    {
      what: `swap 0.5 ${symbol} for SOL`,
      build: (client) =>
        client.buildSwap({
          ...TERMS,
          priority: "fastest",
          inputMint: mint,
          outputMint: "SOL",
          amount: 0.5,
          swapMode: "exactIn",
        }),
    },
    {
      what: `swap ${symbol} for exactly 0.00001 SOL`,
      build: (client) =>
        client.buildSwap({
          ...TERMS,
          inputMint: mint,
          outputMint: "SOL",
          amount: 0.00001,
          swapMode: "exactOut",
        }),
    },
    {
      what: `sell all ${symbol}`,
      build: (client) => client.buildSell({ ...TERMS, mint, sellPercent: 100 }),
    },
  ];
}

/** Trades over two markets, too large for a plain message from a wallet without token accounts. */
export function twoMarketTrades(world: World): PlannedTrade[] {
  const mintOf = (symbol: string) => world.tokens.find((token) => token.symbol === symbol)!.mint.toString();
  const throughUsdc = ["DIME", "NOVA", "LEVEL"].flatMap((symbol): PlannedTrade[] => [
    {
      what: `buy ${symbol} for 0.1 SOL, via USDC`,
      build: (client) => client.buildBuy({ ...TERMS, mint: mintOf(symbol), solAmount: 0.1 }),
    },
    {
      what: `sell 1 ${symbol}, via USDC`,
      build: (client) => client.buildSell({ ...TERMS, mint: mintOf(symbol), tokenAmount: 1 }),
    },
  ]);
  const swap = (from: string, to: string, amount: number): PlannedTrade => ({
    what: `swap ${amount} ${from} for ${to}`,
    build: (client) =>
      client.buildSwap({
        ...TERMS,
        inputMint: mintOf(from),
        outputMint: mintOf(to),
        amount,
        swapMode: "exactIn",
      }),
  });
  return [
    ...throughUsdc,
    {
      what: "buy KITE for 0.1 SOL",
      build: (client) => client.buildBuy({ ...TERMS, mint: mintOf("KITE"), solAmount: 0.1 }),
    },
    swap("KITE", "ORBIT", 100),
    swap("ORBIT", "DEBUT", 10),
    swap("KITE", "USDC", 100),
  ];
}

/** Trades large enough to be divided over the markets of one token, and trades over three markets in a row. */
export function routedTrades(world: World): PlannedTrade[] {
  const mintOf = (symbol: string) =>
    symbol === "SOL" ? symbol : world.tokens.find((token) => token.symbol === symbol)!.mint.toString();
  const swap = (from: string, to: string, amount: number, swapMode: "exactIn" | "exactOut"): PlannedTrade => ({
    what: `swap ${from} for ${to}, ${swapMode} ${amount}`,
    build: (client) =>
      client.buildSwap({ ...TERMS, inputMint: mintOf(from), outputMint: mintOf(to), amount, swapMode }),
  });
  return [
    swap("SOL", "EMBER", 30, "exactIn"),
    swap("SOL", "EMBER", 10_000, "exactOut"),
    swap("EMBER", "SOL", 20_000, "exactIn"),
    swap("EMBER", "SOL", 5, "exactOut"),
    swap("SOL", "NOVA", 0.5, "exactIn"),
    swap("NOVA", "ORBIT", 1, "exactIn"),
    swap("NOVA", "QRTZ", 0.5, "exactIn"),
    swap("SOL", "DIME", 0.5, "exactIn"),
    swap("DIME", "EMBER", 5, "exactIn"),
  ];
}

/** The first token of each venue that trades against SOL, apart from those that others are quoted in: their pools are deep. */
export function tokenPerVenue(world: World): readonly { readonly mint: string; readonly symbol: string }[] {
  const quotes = new Set(world.tokens.map(({ quoteMint }) => quoteMint));
  const traded = world.tokens.filter(({ mint, quoteMint }) => quoteMint === SOL_MINT && !quotes.has(mint));
  const venues = new Map(traded.toReversed().map(({ mint, venue }) => [venue, mint.toString()]));
  const firsts = new Set(venues.values());
  return solTokens(world).filter(({ mint }) => firsts.has(mint));
}
