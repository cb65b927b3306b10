import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { concatBytes } from "../../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf } from "./support/builds.ts";
import { installPrograms, missingFor, PLAIN_MARKETS, type PlainMarket } from "./support/open-markets.ts";

/**
 * A program looks for a mint's transfer fee among its extensions, and some give up at one that they do not know. Their bound is then held
 * against what they send, so that any fee passes it. Newest builds of orca_whirlpool make markets of such mints for anybody.
 */
const present = PLAIN_MARKETS.filter((kind) => missingFor(kind).length === 0 && kind.venue.supports.token2022);
const HELD = 10n ** 18n;
const FEE = { bps: 5_000, maximum: HELD };
const AMOUNT = 10n ** 9n;
/** Kinds of extensions, and their sizes: those that all programs know, then newer ones. */
const KNOWN = [
  [3, 32],
  [10, 52],
  [12, 32],
  [18, 64],
] as const;
const NEWER = [
  [20, 64],
  [22, 64],
  [25, 56],
  [26, 33],
] as const;

/** Puts an extension before those that the mint has. */
function prepend(svm: Svm, address: Address, [kind, size]: readonly [number, number]): void {
  const { data, owner } = svm.get(address)!;
  const entry = new Uint8Array(4 + size);
  const view = new DataView(entry.buffer);
  view.setUint16(0, kind, true);
  view.setUint16(2, size, true);
  // Scaled by one, from now on and later.
  if (kind === 25) for (const at of [32, 48]) view.setFloat64(4 + at, 1, true);
  svm.setAccount({ address, owner, data: concatBytes(data.subarray(0, 166), entry, data.subarray(166)) });
}

/** True if a purchase of a taxed token lands although a hundredth less arrives than it asks for at least. */
function overlooksFee(kind: PlainMarket, path: string, extension: readonly [number, number]) {
  const { venue } = kind;
  const svm = new Svm();
  installPrograms(svm, kind);
  const wallet = svm.newWallet(10n ** 15n);
  const taxed = svm.newMint({ decimals: 6, supply: HELD, program: TOKEN_2022_PROGRAM, transferFee: FEE });
  const plain = svm.newMint({ decimals: 6, supply: HELD });
  const fund = () => [plain, taxed].map((mint) => svm.setTokens(wallet, mint, HELD / 2n));
  fund();
  const market = kind.open(svm, wallet, [taxed, plain], 10n ** 13n);
  fund();
  const { state } = readMarket(svm, venue, market, { a: taxed, b: plain });
  const pair = { inMint: plain, outMint: taxed };
  const quote = venue.quote(state, { mode: "exactIn", ...pair, amount: AMOUNT, clock: svm.clock() });
  const [source, destination] = [plain, taxed].map((mint) =>
    associatedTokenAddress(wallet, mint, svm.get(mint)!.owner),
  ) as [Address, Address];
  const threshold = (quote.outAmount * 101n) / 100n;
  const ends = { wallet, source, destination, threshold, salt: 0, exists: () => true };
  const { instructions } = venue.swap(state, quote, ends);
  prepend(svm, taxed, extension);
  svm.addProgram(kind.program, path);
  kind.keptBy?.(path, svm, market);
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...instructions]);
  const isShort = done.ok && svm.tokens(destination) - HELD / 2n < threshold;
  return { isShort, reason: decodeMint(svm.get(taxed)!).unsupported };
}

describe.runIf(present.length > 0)("a transfer fee behind another extension", () => {
  it.each(present.flatMap((kind) => buildsOf(kind.name).map(({ path }) => ({ kind, path }))))(
    "is no part of a trade if $path does not find it",
    ({ kind, path }) => {
      for (const extension of KNOWN) {
        const { isShort, reason } = overlooksFee(kind, path, extension);
        expect([extension[0], isShort, reason]).toEqual([extension[0], false, undefined]);
      }
      for (const extension of NEWER) {
        const { reason } = overlooksFee(kind, path, extension);
        expect(reason, String(extension[0])).toContain("stands behind an extension");
      }
    },
  );

  it.runIf(present.some(({ name }) => name === "orca_whirlpool"))("is overlooked by some programs", () => {
    const kind = present.find(({ name }) => name === "orca_whirlpool")!;
    const { path } = buildsOf(kind.name).at(-1)!;
    expect(NEWER.map((extension) => overlooksFee(kind, path, extension).isShort)).toContain(true);
  });
});
