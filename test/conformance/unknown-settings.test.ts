import { describe, expect, it } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { Address } from "../../src/primitives/address.ts";
import type { Account, AccountView } from "../../src/solana/account.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import type { Market, VenueId } from "../../src/venues/venue.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";

const { markets, mint, clock } = readSampleMarkets();

/** Settings of one byte, each with the least value that no known build of the program writes. */
const SETTINGS: readonly (readonly [VenueId, "pool" | "config", string, offset: number, unknown: number])[] = [
  ["raydium_cpmm", "pool", "creator fee's side", 389, 3],
  ["raydium_clmm", "pool", "fee's side", 390, 3],
  ["raydium_amm_v4", "pool", "status", 0, 8],
  ["raydium_launchlab", "pool", "status", 17, 3],
  ["raydium_launchlab", "config", "curve", 16, 3],
  ["meteora_dlmm", "pool", "function", 35, 3],
  ["meteora_dlmm", "pool", "fee's side", 36, 2],
  ["meteora_dlmm", "pool", "pair type", 75, 4],
  ["meteora_dlmm", "pool", "status", 82, 2],
  ["meteora_dlmm", "pool", "activation's unit", 86, 2],
  ["meteora_damm_v2", "pool", "base fee", 16, 5],
  ["meteora_damm_v2", "pool", "activation's unit", 480, 2],
  ["meteora_damm_v2", "pool", "status", 481, 2],
  ["meteora_damm_v2", "pool", "fee's side", 484, 3],
  ["meteora_damm_v2", "pool", "fee's cap", 486, 2],
  ["meteora_damm_v2", "pool", "layout", 696, 2],
  ["meteora_dbc", "config", "base fee", 130, 3],
  ["meteora_dbc", "config", "fee's side", 232, 2],
  ["meteora_dbc", "config", "activation's unit", 234, 2],
  ["meteora_damm_v1", "pool", "activation's unit", 475, 2],
  ["meteora_damm_v1", "pool", "curve", 874, 2],
];

describe("a market with a setting that no known build writes is not quoted", () => {
  it.each(SETTINGS)("%s, %s: %s", (venue, kind, _setting, offset, unknown) => {
    const sample = markets.find((one) => one.venue.id === venue)!;
    const { address, config } = sample.hot.market as Market & { readonly config?: Address };
    const changed = kind === "pool" ? address : config!;
    expect(outcomes(sample, undefined)).toEqual(["quoted", "quoted"]);
    const data = Uint8Array.from(sample.accounts.get(changed)!.data);
    data[offset] = unknown;
    for (const outcome of outcomes(sample, { ...sample.accounts.get(changed)!, data })) {
      expect(outcome).toMatch(/^(VENUE_DEGRADED|NO_ROUTE|no market)$/);
    }
  });
});

/** What quotes of a sale and a purchase answer, with one account in place of the sample's. */
function outcomes({ venue, hot, accounts }: SampleMarket, changed: Account | undefined): string[] {
  const have: AccountView = { get: (one) => (one === changed?.address ? changed : accounts.get(one)) };
  return [mint, SOL_MINT].map((inMint) => {
    try {
      const market = venue.decode(have.get(hot.market.address)!, { a: mint, b: SOL_MINT });
      if (market === undefined) return "no market";
      const outMint = inMint === mint ? SOL_MINT : mint;
      venue.quote(venue.read(market, have), { mode: "exactIn", inMint, outMint, amount: 1_000_000n, clock });
      return "quoted";
    } catch (error) {
      if (error instanceof TradewireError) return error.code;
      throw error;
    }
  });
}
