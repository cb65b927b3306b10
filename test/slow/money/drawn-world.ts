import { type Address, compareAddresses } from "../../../src/primitives/address.ts";
import { viewOf } from "../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { Svm } from "../../support/svm.ts";
import { appendExtensions, EXTENSION_COUNTS, extendMint } from "../venues/support/extended-mint.ts";
import { drawMarket, PRESENT } from "./drawn-markets.ts";
import type { Drawing, Place } from "./market-draw.ts";

/** Markets of random venues, mints and shapes on a chain of their own. */
export interface DrawnWorld {
  readonly name: string;
  readonly svm: Svm;
  /** What orders name. */
  readonly pair: readonly [Address, Address];
  /** Every mint of the world. */
  readonly mints: readonly Address[];
  readonly places: readonly Place[];
  /** Created the markets, and earns from some. */
  readonly insider: Address;
}

const U64_MAX = (1n << 64n) - 1n;
/** Fits every market: pools of today open in a moment. */
const LATER = { slots: 300n, seconds: 60n };
/** Lamports per byte, when the markets were made and since: it has only fallen. */
const RENTS = [
  [5_080n, 5_080n],
  [6_960n, 6_960n],
  [6_960n, 5_080n],
  [6_960n, 696n],
] as const;
/** Draws until a venue takes the mints. */
const TRIES = 20;
/** Where the fee of the next epoch is in the data of a mint that has no other extension before it. */
const NEXT_FEE = 170 + 90;

/**
 * Extensions that could change transfers, and do not: no hook's program, not paused, accounts that start usable, confidential transfers,
 * amounts that wallets show as others.
 */
const IDLE = [
  [14, new Uint8Array(64)],
  [26, new Uint8Array(33)],
  [6, Uint8Array.of(1)],
  [4, new Uint8Array(65)],
  [25, new Uint8Array(56)],
] as const;

/** A mint of either token program: with a transfer fee, one that changes with the next epoch, and extensions that leave transfers alone. */
function drawMint(svm: Svm, random: Random): Address {
  const decimals = random.pick([0, 2, 6, 6, 9, 9, 12, 18]);
  const kind = random.pick(["spl", "spl", "spl", "plain", "taxed", "taxed"]);
  if (kind === "spl") return svm.newMint({ decimals });
  const bps = random.pick([0, 1, 30, 150, 1_000, 5_000, 9_999, 10_000]);
  const maximum = random.pick([0n, 1n, 5n, 12_345n, 10n ** 9n, 1n << 62n, U64_MAX]);
  const isTaxed = kind === "taxed";
  const program = TOKEN_2022_PROGRAM;
  const mint = svm.newMint({ decimals, program, ...(isTaxed ? { transferFee: { bps, maximum } } : {}) });
  if (isTaxed && random.chance(0.5)) changeFee(svm, random, mint);
  if (random.chance(0.3)) extendMint(svm, mint, random.pick(EXTENSION_COUNTS));
  const idle = random.chance(0.4) ? IDLE.filter(() => random.chance(0.5)) : [];
  // The token program makes no mint whose account has room for extensions, but none of them.
  if (idle.length > 0) appendExtensions(svm, mint, idle);
  return mint;
}

function changeFee(svm: Svm, random: Random, mint: Address): void {
  const account = svm.get(mint)!;
  const view = viewOf(account.data);
  view.setBigUint64(NEXT_FEE, svm.clock().epoch + 1n, true);
  view.setBigUint64(NEXT_FEE + 8, random.pick([0n, 77n, 1n << 60n]), true);
  view.setUint16(NEXT_FEE + 16, random.pick([0, 10, 500, 7_000]), true);
  svm.setAccount(account);
}

const SHAPES = ["one", "one", "two", "three", "hub", "hub", "hub", "triangle"] as const;
/** Of markets that are about as deep. */
const WIDE_SHAPES = ["two", "three", "three", "triangle", "triangle"] as const;

function pairsOf(
  shape: (typeof SHAPES)[number],
  a: Address,
  b: Address,
  hub: Address,
): (readonly [Address, Address])[] {
  const over: (readonly [Address, Address])[] = [
    [a, hub],
    [hub, b],
  ];
  if (shape === "hub") return over;
  if (shape === "triangle") return [[a, b], ...over];
  return Array.from({ length: { one: 1, two: 2, three: 3 }[shape] }, () => [a, b] as const);
}

/** The world of a seed; undefined if no venue takes any of its mints. */
export function drawWorld(seed: number): DrawnWorld | undefined {
  const drawn = createRandom(seed);
  const random: Drawing = drawn.chance(0.3) ? { ...drawn, depth: 10n ** drawn.between(5n, 12n) } : drawn;
  const svm = new Svm();
  const [rentBefore, rent] = random.pick(RENTS);
  svm.setRent(rentBefore);
  const usdc = svm.newMint({ address: USDC_MINT, decimals: 6 });
  const insider = svm.newWallet(1n << 52n);
  const shape = random.pick(random.depth === undefined ? SHAPES : WIDE_SHAPES);
  const a = random.chance(0.7) ? SOL_MINT : drawMint(svm, random);
  let b = drawMint(svm, random);
  const hub = a !== SOL_MINT && random.chance(0.4) ? SOL_MINT : random.pick([usdc, drawMint(svm, random)]);
  const wanted = b;
  const places: Place[] = [];
  for (const [from, to] of pairsOf(shape, a, b, hub)) {
    for (let tries = 0; tries < TRIES; tries++) {
      const venue = random.pick(PRESENT);
      const second = to === wanted ? b : to;
      const ordered = [from, second] as const;
      const isLaunch = venue === "meteora_dbc";
      const mints = isLaunch || random.chance(0.5) ? ordered : ([second, from] as const);
      if (places.some((place) => place.venue === venue && isSamePair(place.mints, mints))) continue;
      // A launch makes the coin itself.
      if (isLaunch && (to !== wanted || places.some((place) => place.mints.includes(b)))) continue;
      const place = drawMarket(venue, { svm, random, mints, index: places.length, insider });
      if (place === undefined) continue;
      places.push(place);
      if (isLaunch) b = place.mints[1];
      break;
    }
  }
  if (places.length === 0) return undefined;
  svm.setRent(rent);
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({ slot: slot + LATER.slots, epoch, unixTimestamp: unixTimestamp + LATER.seconds });
  const mints = [...new Set([a, b, ...places.flatMap((place) => place.mints)])];
  const name = `seed ${seed}, ${shape}: ${places.map(({ venue }) => venue).join(" + ")}`;
  return { name, svm, pair: [a, b], mints, places, insider };
}

const isSamePair = (one: readonly [Address, Address], other: readonly [Address, Address]): boolean => {
  const [x, y] = [[...one].sort(compareAddresses), [...other].sort(compareAddresses)];
  return x[0] === y[0] && x[1] === y[1];
};
