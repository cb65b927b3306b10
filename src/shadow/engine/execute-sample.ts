import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { MAX_COMPUTE_UNITS, setComputeUnitLimit } from "../../solana/compute-budget.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { TOKEN_ACCOUNT_SIZE, tokenBalance } from "../../solana/token/token-account.ts";
import { type Market, rentOfGrowth, type SwapLeg, type Venue } from "../../venues/venue.ts";
import type { Sample } from "./sample-sizes.ts";
import type { ShadowRun, ShadowSvm } from "./shadow-svm.ts";
import { SHADOW_WALLET, setWalletTokens, walletAccountOf } from "./synthetic-wallet.ts";

/** Fee of a transaction with one signature. Lamports. */
const SIGNATURE_FEE = 5_000n;
/** Units the compute-budget instruction itself uses. */
const BUDGET_UNITS = 150;

/** The market, its state and the accounts that exist. */
export interface Subject {
  readonly venue: Venue;
  readonly market: Market;
  readonly state: unknown;
  readonly exists: (address: Address) => boolean;
}

/** How a trade of a check went. */
export interface SampleRun {
  /** What differs from the quote, in words and numbers. */
  readonly difference: string | undefined;
  readonly units: number;
  /** Bound of the venue's table. */
  readonly bound: number;
}

/** The instructions that a build would make for the sample. @throws whatever the venue throws */
export function legOf(svm: ShadowSvm, subject: Subject, { quote }: Sample, isLenient = false): SwapLeg {
  const { venue, state, exists } = subject;
  const exact = quote.mode === "exactIn" ? quote.outAmount : quote.inAmount;
  const lenient = quote.mode === "exactIn" ? 1n : quote.inAmount * 2n;
  return venue.swap(state, quote, {
    wallet: SHADOW_WALLET,
    source: walletAccountOf(svm, quote.inMint),
    destination: walletAccountOf(svm, quote.outMint),
    threshold: isLenient ? lenient : exact,
    salt: 0,
    exists,
  });
}

/** Executes the sample's instructions on the deployed programs, and compares the wallet with the quote. */
export function executeSample(svm: ShadowSvm, subject: Subject, sample: Sample): SampleRun {
  const { quote } = sample;
  setWalletTokens(svm, quote.inMint, quote.inAmount * 2n);
  const leg = legOf(svm, subject, sample);
  const run = simulate(svm, leg.instructions);
  const units = run.units - BUDGET_UNITS;
  const result = { units, bound: leg.computeUnits };
  if (run.failure !== undefined) {
    const lenient = simulate(svm, legOf(svm, subject, sample, true).instructions);
    const moved =
      lenient.failure === undefined ? `: it moves ${show(movedBy(svm, subject, sample, leg, lenient))}` : "";
    return { ...result, difference: `${describe(sample)}, the program fails (${run.failure})${moved}` };
  }
  const moved = movedBy(svm, subject, sample, leg, run);
  const isEqual = moved.inAmount === quote.inAmount && moved.outAmount === quote.outAmount && moved.spare === 0n;
  if (isEqual) return { ...result, difference: undefined };
  const spare =
    moved.spare === 0n ? "" : ` and ${moved.spare} more lamports than the rent of ${leg.creates.length} accounts`;
  return { ...result, difference: `${describe(sample)}, the program moves ${show(moved)}${spare}` };
}

/** What the sample's exactIn trade moves if it takes another input; undefined if the program refuses that. */
export function executeTaking(svm: ShadowSvm, subject: Subject, sample: Sample, inAmount: bigint): Moved | undefined {
  const { ask, quote } = sample;
  setWalletTokens(svm, quote.inMint, inAmount * 2n);
  const leg = legOf(svm, subject, { ask, quote: { ...quote, inAmount } }, true);
  const run = simulate(svm, leg.instructions);
  return run.failure === undefined ? movedBy(svm, subject, sample, leg, run) : undefined;
}

function simulate(svm: ShadowSvm, instructions: readonly Instruction[]): ShadowRun {
  return svm.simulate(SHADOW_WALLET, [setComputeUnitLimit(MAX_COMPUTE_UNITS), ...instructions]);
}

/** Amounts of both mints that a run moved, and lamports that left the wallet beyond the trade and the announced accounts. */
interface Moved {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly spare: bigint;
}

function movedBy(svm: ShadowSvm, { market, exists }: Subject, { quote }: Sample, leg: SwapLeg, run: ShadowRun): Moved {
  const { inMint, outMint } = quote;
  const tokens = (mint: Address) => {
    const address = walletAccountOf(svm, mint);
    return tokensOf(run.after.get(address)) - tokensOf(svm.get(address));
  };
  const rent = leg.creates
    .filter(({ address }) => !exists(address))
    .reduce((sum, { space }) => sum + svm.rentExemption(space), 0n);
  // A build of the program may leave an account as it is, or enlarge it by less.
  const growth = (leg.grows ?? [])
    .map((one) => ({ ...one, to: Math.min(one.to, run.after.get(one.address)?.data.length ?? 0) }))
    .filter(({ from, to }) => to > from)
    .reduce((sum, one) => sum + rentOfGrowth(one, (space) => svm.rentExemption(space)), 0n);
  const before = svm.get(SHADOW_WALLET)!.lamports;
  const lamports = (run.after.get(SHADOW_WALLET)?.lamports ?? 0n) - before + SIGNATURE_FEE + rent + growth;
  const isNative = (mint: Address) => market.nativeSol && mint === SOL_MINT;
  return {
    inAmount: isNative(inMint) ? -lamports : -tokens(inMint),
    outAmount: isNative(outMint) ? lamports : tokens(outMint),
    spare: isNative(inMint) || isNative(outMint) ? 0n : -lamports,
  };
}

function tokensOf(account: Account | null | undefined): bigint {
  return account == null || account.data.length < TOKEN_ACCOUNT_SIZE ? 0n : tokenBalance(account);
}

function describe({ quote: { mode, inMint, inAmount, outAmount } }: Sample): string {
  return `${mode} from ${inMint}: we quote ${inAmount} for ${outAmount}`;
}

/** Both amounts, in words. */
export const show = ({ inAmount, outAmount }: Moved): string => `${inAmount} for ${outAmount}`;
