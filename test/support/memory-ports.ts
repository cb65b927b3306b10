import { randomFillSync } from "node:crypto";
import type { HotMarket, Markets, PairMarkets } from "../../src/market/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import { hex } from "../../src/primitives/bytes.ts";
import { createRandomTexts } from "../../src/primitives/random-text.ts";
import type { Account, ChainClock } from "../../src/solana/account.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint, type Mint } from "../../src/solana/token/mint.ts";
import type { BuildPorts } from "../../src/trade/build/build-trade.ts";
import { createTokenSealer } from "../../src/trade/build/token/submission-token.ts";
import { LongSearches } from "../../src/trade/quote/long-searches.ts";
import { Svm } from "./svm.ts";

/**
 * What a warm build reads, all of it in memory: the given markets of the token against SOL, a wallet rich in SOL whose
 * token accounts are not known, and a chain that stands still.
 */
export function memoryPorts(options: {
  readonly mint: Address;
  readonly clock: ChainClock;
  readonly wallet: Address;
  readonly markets: readonly HotMarket[];
  /** Tokens the wallet holds; absent: it has no account of the token. */
  readonly tokens?: { readonly address: Address; readonly amount: bigint };
}): BuildPorts {
  const { mint, clock, wallet, tokens } = options;
  const svm = new Svm(clock);
  svm.newMint({ address: mint, decimals: 9 });
  const mints = new Map<Address, Mint>([SOL_MINT, mint].map((address) => [address, decodeMint(svm.get(address)!)]));
  const accounts = new Map<Address, Account | null>();
  svm.setAccount({ address: wallet, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: 1n << 60n });
  accounts.set(wallet, svm.get(wallet));
  if (tokens !== undefined) accounts.set(tokens.address, svm.get(svm.setTokens(wallet, mint, tokens.amount)));
  const direct: PairMarkets = { markets: options.markets, faults: [], searched: [] };
  const none: PairMarkets = { markets: [], faults: [], searched: [] };
  const answerFor = ({ a, b }: { readonly a: Address; readonly b: Address }): PairMarkets =>
    (a === SOL_MINT && b === mint) || (b === SOL_MINT && a === mint) ? direct : none;
  const markets: Markets = {
    marketsOf: answerFor,
    knownMarkets: answerFor,
    searchSoon: () => undefined,
    mint: (address) => mints.get(address) ?? null,
    account: (address) => accounts.get(address) ?? null,
    warm: async () => undefined,
    refresh: async () => undefined,
  };
  let nonce = 0;
  return {
    markets,
    head: {
      lifetime: () => ({ blockhash: new Uint8Array(32).fill(9), lastValidBlockHeight: 1_150n, slot: clock.slot }),
      clock: () => clock,
      blockHeight: () => 1_000n,
      heightAtMs: (height) => 1_795_000_000_000 + Number(height - 1_000n) * 400,
      slotMs: () => 400,
      rentExemption: (space) => svm.rent(space),
      genesisHash: () => "memory",
    },
    fees: { priceMicroLamportsPerCu: () => 10_000n, expectedSlots: () => 1 },
    senders: { choose: () => ({ senders: ["rpc"], tips: [] }) },
    sealer: createTokenSealer({
      keys: [{ id: "k", secret: hex("07".repeat(32)), seals: true }],
      genesisHash: "memory",
      now: () => 1_795_000_000_000,
      fillRandom: randomFillSync,
    }),
    now: () => 1_795_000_000_000,
    lookupTables: () => [],
    baseFee: () => 5_000n,
    worstCases: { turn: async () => () => undefined, pause: async () => undefined },
    searches: new LongSearches({ pause: async () => undefined }),
    nextNonce: () => nonce++ & 0x3fff,
    nextSeed: createRandomTexts(randomFillSync),
    settings: {
      computeUnitMarginPercent: 10,
      loadedAccountsBytes: 8 << 20,
      expiryMarginMs: 2_000,
      transactionV1: false,
    },
  };
}
