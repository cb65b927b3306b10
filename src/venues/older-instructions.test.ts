import { expect, test } from "vitest";
import { readSampleMarkets } from "../../test/support/sample-markets.ts";
import { Address } from "../primitives/address.ts";
import { MEMO_PROGRAM, SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import type { Mint } from "../solana/token/mint.ts";
import type { Quote, SwapMode } from "./venue.ts";

const { mint, clock, markets } = readSampleMarkets();
const [WALLET, SOURCE, DESTINATION] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte)));
const terms = {
  wallet: WALLET!,
  source: SOURCE!,
  destination: DESTINATION!,
  threshold: 7n,
  salt: 0,
  exists: () => true,
};

/** Accounts that the older instruction leaves out of those of the newest, by venue. `mints`: its two mints. */
const LEFT_OUT: Readonly<Record<string, readonly Address[]>> = {
  raydium_clmm: [TOKEN_2022_PROGRAM, MEMO_PROGRAM, SOL_MINT, mint],
  orca_whirlpool: [MEMO_PROGRAM, SOL_MINT, mint],
  meteora_dlmm: [MEMO_PROGRAM],
};
const DISCRIMINATORS: Readonly<Record<string, Readonly<Record<SwapMode, string>>>> = {
  raydium_clmm: { exactIn: "f8c69e91e17587c8", exactOut: "f8c69e91e17587c8" },
  orca_whirlpool: { exactIn: "f8c69e91e17587c8", exactOut: "f8c69e91e17587c8" },
  meteora_dlmm: { exactIn: "f8c69e91e17587c8", exactOut: "fa49652126cf4bb8" },
};
const venues = Object.keys(LEFT_OUT).map((id) => markets.find(({ venue }) => venue.id === id)!);

const cases = venues.flatMap(({ venue, hot }) =>
  (["exactIn", "exactOut"] as const).flatMap((mode) =>
    [true, false].map((isSale) => ({ id: venue.id, way: isSale ? "sale" : "purchase", mode, venue, hot })),
  ),
);

test.each(cases)(
  "$id: the older instruction of a $way, $mode, is the newest one without what it need not name",
  ({ id, way, mode, venue, hot }) => {
    const [inMint, outMint] = way === "sale" ? [mint, SOL_MINT] : [SOL_MINT, mint];
    const quote = venue.quote(hot.state, { mode, inMint, outMint, amount: 1_000_000n, clock });
    const older = venue.older!(hot.state, quote)!;
    expect({ ...older, fill: undefined }).toEqual({ ...quote, fill: undefined });
    const [newest, swap] = [quote, older].map((one: Quote) => venue.swap(hot.state, one, terms).instructions[0]!);
    const named = newest!.accounts.filter(({ address }) => !LEFT_OUT[id]!.includes(address));
    // The program of Token A's mint alone, where both are the same.
    const spare = id === "orca_whirlpool" ? named.slice(1) : named;
    expect(swap!.accounts).toEqual(spare);
    expect(Buffer.from(swap!.data.subarray(0, 8)).toString("hex")).toBe(DISCRIMINATORS[id]![mode]);
    expect(swap!.data.subarray(8)).toEqual(newest!.data.subarray(8, swap!.data.length));
    expect(newest!.data.subarray(swap!.data.length).every((byte) => byte === 0)).toBe(true);
    expect(venue.older!(hot.state, older)).toBeUndefined();
  },
);

test("a market with a Token-2022 mint has no older instruction", () => {
  for (const { venue, hot } of venues) {
    const ask = { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount: 1_000_000n, clock } as const;
    const quote = venue.quote(hot.state, ask);
    const { mints } = hot.state as { readonly mints: readonly [Mint, Mint] };
    for (const index of [0, 1]) {
      const programs = mints.map(({ program }, at) => (at === index ? TOKEN_2022_PROGRAM : program));
      expect(programs).toContain(TOKEN_PROGRAM);
      const state = {
        ...(hot.state as object),
        mints: mints.map((one, at) => ({ ...one, program: programs[at] })),
        tokenPrograms: programs,
      };
      expect(venue.older!(state, quote), `${venue.id} ${index}`).toBeUndefined();
      expect(venue.older!(hot.state, quote), `${venue.id} ${index}`).toBeDefined();
    }
  }
});
