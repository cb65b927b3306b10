import { existsSync } from "node:fs";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { ChainClock } from "../../../src/solana/account.ts";
import { TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import type { MintPair, SwapMode, Venue, VenueId } from "../../../src/venues/venue.ts";
import { Svm } from "../../support/svm.ts";
import type { Build } from "../venues/support/builds.ts";
import { asAssociated, extendMint } from "../venues/support/extended-mint.ts";
import { newKey, newWallet } from "../venues/support/random-keys.ts";
import type { Genes } from "./genes.ts";

/** A market to trade on, with a wallet. */
export interface Stage {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Address;
  /** The pair it was found for; needed if the market account does not name its mints. */
  readonly pair?: MintPair;
  readonly wallet: Address;
  /** Gives the wallet plenty of both mints. */
  readonly fund: () => void;
  /** The most of a mint that a trade names. Base units. */
  readonly most: (mint: Address, mode: SwapMode) => bigint;
}

/** How a venue's markets are drawn. */
export interface Searched {
  readonly name: VenueId;
  /** None if a program that it needs is absent. */
  readonly builds: readonly Build[];
  /** Draws a market on a build. @throws Error if the program refuses what was drawn */
  open(genes: Genes, build: Build): Stage;
}

/** Base units of what a wallet holds of each mint. */
export const HELD = 1n << 61n;

/** Draws that share a runtime: making one takes longer than a market, and gives back its memory late. */
const DRAWS_A_RUNTIME = 300;
let runtime: { readonly svm: Svm; readonly clock: ChainClock; left: number } | undefined;

/** A wallet on a chain, with keys for mints unlike any other draw's. */
export function drawChain(genes: Genes) {
  if (runtime === undefined || runtime.left === 0) {
    const svm = new Svm();
    runtime = { svm, clock: svm.clock(), left: DRAWS_A_RUNTIME };
  }
  const { svm, clock } = runtime;
  svm.setClock(clock);
  // Other keys each time, for the runtime keeps what is made with them.
  const random = createRandom(Math.floor(genes.next() * 2 ** 32) + runtime.left--);
  return { svm, random, wallet: newWallet(svm, random, 1n << 55n) };
}

/** The builds, if this file is there too. */
export const buildsBeside = <B extends Build>(file: string, builds: readonly B[]): readonly B[] =>
  existsSync(file) ? builds : [];

/** Installs a program in this copy, unless it is the one that runs. */
export function install(svm: Svm, program: Address, file: string): void {
  if (svm.programFile(program) !== file) svm.addProgram(program, file);
}

export type Chain = ReturnType<typeof drawChain>;

/** A mint of either token program, with or without a transfer fee and extensions that leave transfers alone. */
export function drawMint({ svm, random }: Pick<Chain, "svm" | "random">, genes: Genes, fees = true): Address {
  const kind = genes.pick(["spl", "spl", "spl", "2022", fees ? "fee" : "2022"]);
  const extensions = genes.pick([0, 0, 1, 2, 5, 9]);
  const address = newKey(random);
  if (kind === "spl") return svm.newMint({ decimals: 6, supply: HELD, address });
  const transferFee =
    kind === "fee" ? { bps: genes.pick([1, 137, 9_000]), maximum: genes.pick([5n, 1n << 60n]) } : undefined;
  const program = TOKEN_2022_PROGRAM;
  svm.newMint({ decimals: 9, supply: HELD, program, address, ...(transferFee === undefined ? {} : { transferFee }) });
  if (extensions > 0) extendMint(svm, address, extensions);
  return address;
}

/** Gives plenty of the mints to an account that is as the associated-token program makes it. */
export function fund(svm: Svm, wallet: Address, mints: readonly Address[], amount = HELD): void {
  for (const mint of mints) {
    const account = svm.setTokens(wallet, mint, amount);
    if (svm.get(mint)!.owner === TOKEN_2022_PROGRAM) asAssociated(svm, account);
  }
}
