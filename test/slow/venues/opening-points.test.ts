import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress, derive } from "../../../src/solana/pda.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import type { Quote } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import type { Svm } from "../../support/svm.ts";
import { missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";
import { bench, TIMED_MARKETS, type TimedBench } from "./support/timed-markets.ts";

/** Markets that open at a point: nothing is quoted before it, the program refuses what lands before it, and at it the quote is executed. */
interface Opening {
  readonly name: string;
  readonly needs: readonly string[];
  open(): TimedBench;
  /** The account that holds the point, its offset, and other bytes to set. */
  readonly offset: number;
  readonly at?: (market: Address) => Address;
  readonly more?: readonly (readonly [offset: number, value: number])[];
  /** Trades only after the second, not in it. */
  readonly isAfter?: boolean;
}

const plain = (name: string): Pick<Opening, "name" | "needs" | "open"> => {
  const kind = PLAIN_MARKETS.find((market) => market.name === name)!;
  return {
    name,
    needs: missingFor(kind),
    open() {
      const { mints, ...opened } = bench(name);
      const market = kind.open(opened.svm, opened.wallet, mints, 10n ** 13n);
      opened.fund();
      return { ...opened, venue: kind.venue, market };
    },
  };
};

const whirlpool = TIMED_MARKETS.find(({ name }) => name.startsWith("orca_whirlpool"))!;
const OPENINGS: readonly Opening[] = [
  { ...plain("raydium_cpmm"), offset: 373 },
  { ...plain("raydium_clmm"), offset: 1_080, isAfter: true },
  { ...plain("meteora_damm_v2"), offset: 472 },
  { ...plain("meteora_damm_v1"), offset: 403, more: [[475, 1]] },
  // A pair whose maker chose its parameters, counted in seconds.
  {
    ...plain("meteora_dlmm"),
    offset: 816,
    more: [
      [75, 2],
      [86, 1],
    ],
  },
  { ...whirlpool, offset: 40, at: (market) => derive(WHIRLPOOL_PROGRAM, "oracle", market) },
];
const WAIT_SECONDS = 100n;
const AMOUNT = 10n ** 9n;

describe("a market opens at a point", () => {
  it.each(OPENINGS.filter(({ needs }) => needs.length === 0))("$name", ({ open, offset, at, more = [], isAfter }) => {
    const { svm, venue, market, pair, wallet } = open();
    const now = svm.clock();
    const point = now.unixTimestamp + WAIT_SECONDS;
    const account = svm.get(at?.(market) ?? market)!;
    writeU64(account.data, offset, point);
    for (const [place, value] of more) account.data[place] = value;
    svm.setAccount(account);
    const first = isAfter === true ? point + 1n : point;
    const clockAt = (unixTimestamp: bigint) => ({ ...now, slot: now.slot + 250n, unixTimestamp });
    const quoteAt = (unixTimestamp: bigint) =>
      venue.quote(readMarket(svm, venue, market, pair).state, {
        mode: "exactIn",
        inMint: pair.a,
        outMint: pair.b,
        amount: AMOUNT,
        clock: clockAt(unixTimestamp),
      });
    expect(() => quoteAt(first - 1n)).toThrow(/opens/);
    const quote = quoteAt(first);
    expect(land(svm, first - 1n, quote)).toBe("refused");
    expect(land(svm, first, quote)).toBe(quote.outAmount);

    function land(chain: Svm, unixTimestamp: bigint, { outAmount }: Quote): bigint | "refused" {
      const accountOf = (mint: Address) => associatedTokenAddress(wallet, mint, chain.get(mint)!.owner);
      const [source, destination] = [accountOf(pair.a), accountOf(pair.b)];
      const exists = (address: Address) => chain.get(address) !== null;
      const { state } = readMarket(chain, venue, market, pair);
      const terms = { wallet, source, destination, threshold: outAmount, salt: 0, exists };
      const leg = venue.swap(state, quote, terms);
      chain.setClock(clockAt(unixTimestamp));
      const before = chain.tokens(destination);
      const done = chain.send(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
      return done.ok ? chain.tokens(destination) - before : "refused";
    }
  });
});
