import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../build/build-trade.ts";
import type { TradeRequest } from "../../trade.ts";
import { LongSearches } from "../long-searches.ts";
import { type QuotePorts, quoteTrade } from "../quote-trade.ts";

test("a worst case of what must be read first takes no turn while it waits for a node", async () => {
  let turns = 0;
  const turn = async () => {
    turns++;
    return () => undefined;
  };
  const markets = { mint: () => new Promise(() => undefined) };
  const ports = {
    markets,
    searches: new LongSearches({ pause: async () => undefined }),
    worstCases: { turn, pause: async () => undefined },
  };
  const request = {
    inMint: SOL_MINT,
    outMint: Address.from(new Uint8Array(32).fill(7)),
    mode: "exactIn",
    amountRaw: "1",
    slippage: 0,
    worstCase: true,
  } as unknown as TradeRequest;
  void quoteTrade(ports as unknown as QuotePorts, request);
  void buildTrade(ports as unknown as BuildPorts, request);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(turns).toBe(0);
});
