import type { HotMarket } from "../../src/market/port.ts";
import type { Address } from "../../src/primitives/address.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import type { Ask, Quote, Venue } from "../../src/venues/venue.ts";

/** The clock of builds on fake markets. */
export const FAKE_CLOCK = { slot: 1_000n, epoch: 2n, unixTimestamp: 1_795_000_000n };

/** A wallet's order for the token, for SOL. */
export const buyFor = (wallet: Address, mint: Address, sol = 0.5): TradeRequest => ({
  principal: { accountId: "account", keyId: "key", wallet },
  inMint: SOL_MINT,
  outMint: mint,
  mode: "exactIn",
  amount: sol,
  slippage: 0.01,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
});

/** What matters of a fake market to its test. */
interface FakeMarket {
  readonly mint: Address;
  readonly address: Address;
  /** The id of its venue. Default "raydium_cpmm". */
  readonly id?: string;
  /** The program of its swap. */
  readonly program: Address;
  /** What comes out of the amount. Default: the amount. */
  readonly give?: (amount: bigint) => bigint;
  /** Of every quote. Default 0. */
  readonly priceImpact?: number;
  /** False if its program takes wrapped SOL. Default true. */
  readonly nativeSol?: boolean;
  /** Of its swap. Default 10,000. */
  readonly computeUnits?: number;
  /** Accounts that its swap writes. Default none. */
  readonly accounts?: readonly Address[];
  /** Of its swap's instruction. Default 8. */
  readonly dataBytes?: number;
  /** Members of its venue that work in another way. */
  readonly venue?: Partial<Venue>;
}

/** A market of the token against SOL that gives a function of what goes in, and whose swap is one instruction. */
export function fakeMarket(fake: FakeMarket): HotMarket {
  const { mint, address, id = "raydium_cpmm", give = (amount) => amount } = fake;
  const accounts = (fake.accounts ?? []).map((one) => ({ address: one, signer: false, writable: true }));
  const venue = {
    id,
    supports: { exactOut: true, token2022: true },
    quote: (_state: unknown, ask: Ask): Quote => ({
      ...ask,
      inAmount: ask.amount,
      outAmount: give(ask.amount),
      priceImpact: fake.priceImpact ?? 0,
      fill: undefined,
    }),
    swap: () => ({
      instructions: [{ program: fake.program, accounts, data: new Uint8Array(fake.dataBytes ?? 8) }],
      computeUnits: fake.computeUnits ?? 10_000,
      creates: [],
    }),
    ...fake.venue,
  } as unknown as Venue;
  return {
    venue,
    market: { venue: venue.id, address, mints: [SOL_MINT, mint], nativeSol: fake.nativeSol ?? true },
    state: undefined,
    slot: 999n,
  };
}
