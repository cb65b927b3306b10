import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { asAssociated, EXTENSION_COUNTS, extendMint } from "./support/extended-mint.ts";
import { installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/** Programs scan all extensions of a mint, several times in a trade: limits have to follow how many there are. */
const present = PLAIN_MARKETS.filter((kind) => missingFor(kind).length === 0 && kind.venue.supports.token2022);
const HELD = 10n ** 18n;
const DEPTH = 10n ** 13n;
const TRADES = 12;
const FEES = [undefined, { bps: 100, maximum: 10n ** 9n }] as const;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

describe.runIf(present.length > 0)("mints with many extensions", () => {
  it.each(present.flatMap((kind) => buildsOf(kind.name).map(({ path }) => ({ kind, path }))))(
    "trade within the limit on $path",
    ({ kind, path }) => {
      const svm = new Svm();
      installPrograms(svm, kind);
      const ratios: number[] = [];
      for (const [index, transferFee] of FEES.entries()) {
        for (const count of EXTENSION_COUNTS) {
          const owner = svm.newWallet(10n ** 15n);
          const mints = [0, 1].map(() =>
            svm.newMint({
              decimals: 6,
              supply: HELD,
              program: TOKEN_2022_PROGRAM,
              ...(transferFee && { transferFee }),
            }),
          ) as [ReturnType<Svm["newMint"]>, ReturnType<Svm["newMint"]>];
          const fund = () => {
            for (const mint of mints) asAssociated(svm, svm.setTokens(owner, mint, HELD));
          };
          fund();
          installPrograms(svm, kind);
          const market = kind.open(svm, owner, mints, DEPTH);
          for (const mint of mints) extendMint(svm, mint, count);
          svm.addProgram(kind.program, path);
          kind.keptBy?.(path, svm, market);
          const outcomes = runTrades({
            svm,
            venue: kind.venue,
            market,
            pair: { a: mints[0], b: mints[1] },
            wallet: owner,
            random: createRandom(count * 2 + index),
            count: TRADES,
            limit: () => DEPTH / 10n,
            before: fund,
            guards: false,
            shadow: false,
          });
          const made = outcomes.filter(({ executed }) => executed !== undefined);
          ratios.push(...made.map((o) => o.computeUnitBound / o.computeUnits));
        }
      }
      console.log(
        `${path}: ${ratios.length} trades, bound/used ${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`,
      );
      expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
    },
  );
});
