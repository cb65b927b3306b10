import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { inSol } from "../verify/message-checks.ts";
import type { Problem } from "../verify/problem.ts";
import { mostRent } from "../verify/rent.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import { curveReserve } from "../verify/venues/pump-fun.ts";
import { isPlain, type NodeAccount, type NodeTokenAccount, tokenAccountIn } from "./node-accounts.ts";

type Accounts = ReadonlyMap<Address, NodeAccount | undefined>;

/** What a simulated transaction does to a wallet. */
export interface WalletChanges {
  /** Change of all lamports in the wallet and its token accounts: liquid, wrapped and rent. */
  readonly lamports: bigint;
  /** Change of the balance by mint, over all of the wallet's token accounts. Base units; without wrapped SOL. */
  readonly tokens: ReadonlyMap<Address, bigint>;
  /** Rent of accounts that are not the wallet's, and that are new or grew. Lamports. */
  readonly rentElsewhere: bigint;
  /** Rent of the wallet's own token accounts that are new, without what their addresses held before. Lamports. */
  readonly rentOwn: bigint;
  /** Changes that no trade makes: a new delegate, another owner. */
  readonly problems: readonly Problem[];
}

/** Costs that leave the wallet in addition to the trade. Lamports. */
export interface TradeCharges {
  /** The network's fee, priority included. */
  readonly fee: bigint;
  readonly tip: bigint;
}

/** What a simulated trade moves, costs apart. Base units. */
export interface Moved {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** Over two markets: what stays of the mint between them. */
  readonly rest: bigint | "none" | "several";
  /** What stays of the mints between, at the announced prices of the markets that sell them. Base units of the output. */
  readonly surplus: number;
}

/** Bytes that each account pays rent for beside its data. */
const RENT_OVERHEAD = 128n;

const problem = (reason: string, account?: Address): Problem => ({ instruction: undefined, account, reason });

/**
 * Compares the accounts that a transaction may write before and after it.
 * @param emptyRent the rent of an account without data. Lamports
 */
export function walletChanges(
  wallet: Address,
  addresses: readonly Address[],
  before: Accounts,
  after: Accounts,
  emptyRent: bigint,
): WalletChanges {
  let lamports = 0n;
  let rentElsewhere = 0n;
  let rentOwn = 0n;
  const tokens = new Map<Address, bigint>();
  const problems: Problem[] = [];
  for (const address of addresses) {
    const [was, is] = [before.get(address), after.get(address)];
    const [held, holds] = [walletTokenAccount(wallet, was), walletTokenAccount(wallet, is)];
    if (address === wallet || held !== undefined || holds !== undefined) {
      lamports += (is?.lamports ?? 0n) - (was?.lamports ?? 0n);
    } else if (is !== undefined) rentElsewhere += rentPaidFor(was, is, emptyRent);
    if (holds !== undefined && held === undefined && holds.mint !== SOL_MINT) {
      rentOwn += is!.lamports - (was?.lamports ?? 0n);
    }
    if (address === wallet && is !== undefined && !isPlain(is) && !isAsBefore(was, is)) {
      problems.push(problem("the wallet itself ends as another program's account", address));
    }
    if (held !== undefined && is !== undefined && holds === undefined) {
      problems.push(problem("a token account of the wallet ends as another owner's", address));
    }
    // A trade closes only the wrapped-SOL account that it opens.
    if (held?.mint === SOL_MINT && is === undefined) {
      problems.push(problem("it closes a wrapped-SOL account that the wallet had before", address));
    }
    if (holds !== undefined && !keepsRights(held, holds)) {
      problems.push(problem("somebody else gets a right over a token account of the wallet", address));
    }
    for (const [account, sign] of [
      [held, -1n],
      [holds, 1n],
    ] as const) {
      if (account === undefined || account.mint === SOL_MINT) continue;
      tokens.set(account.mint, (tokens.get(account.mint) ?? 0n) + sign * account.amount);
    }
  }
  return { lamports, tokens, rentElsewhere, rentOwn, problems };
}

function walletTokenAccount(wallet: Address, account: NodeAccount | undefined): NodeTokenAccount | undefined {
  const found = tokenAccountIn(account);
  return found?.owner === wallet ? found : undefined;
}

function keepsRights(held: NodeTokenAccount | undefined, holds: NodeTokenAccount): boolean {
  return held === undefined ? holds.isFree : held.mint === holds.mint && equalBytes(held.rights, holds.rights);
}

/**
 * Rent of an account that is new or grew, which may receive more: wrapped SOL, or a fee of the trade. One is new even if somebody had
 * sent lamports to its address, which pay for a part. Lamports.
 */
function rentPaidFor(was: NodeAccount | undefined, is: NodeAccount, emptyRent: bigint): bigint {
  const held = was === undefined ? 0n : heldAsRent(was);
  const received = heldAsRent(is) - held;
  const rent = (bytes: number) => (emptyRent * (RENT_OVERHEAD + BigInt(bytes))) / RENT_OVERHEAD;
  const isNew = was === undefined || (isPlain(was) && !isPlain(is));
  const paid = isNew ? rent(is.data.length) - held : rent(is.data.length) - rent(was.data.length);
  if (paid <= 0n || received <= 0n) return 0n;
  return received < paid ? received : paid;
}

/** True of an account that belongs to the same program as before and holds the same: a wallet may be the account of a nonce. */
const isAsBefore = (was: NodeAccount | undefined, is: NodeAccount): boolean =>
  was !== undefined && was.owner === is.owner && equalBytes(was.data, is.data);

/** An account's lamports without those that trades have left there. */
const heldAsRent = (account: NodeAccount): bigint => account.lamports - curveReserve(account);

/** The amounts of the trade: the changes without their costs. */
export function movedBy(
  { lamports, tokens, rentElsewhere }: WalletChanges,
  { inMint, outMint, legs }: TradeExpectation,
  { fee, tip }: TradeCharges,
): Moved {
  const sol = lamports + fee + tip + rentElsewhere;
  const change = (mint: Address) => (mint === SOL_MINT ? sol : (tokens.get(mint) ?? 0n));
  const between = new Set(legs.map((leg) => leg.outMint).filter((mint) => mint !== outMint));
  const isChain = legs.length === between.size + 1;
  const rest = between.size === 0 ? "none" : isChain && between.size === 1 ? change(legs[0]!.outMint) : "several";
  let surplus = 0;
  for (const mint of between) surplus += Number(change(mint)) * priceIn(mint, outMint, legs);
  return { inAmount: -change(inMint), outAmount: change(outMint), rest, surplus };
}

/** Output for one base unit of a mint between two markets, by the announced amounts of the markets that sell it. */
function priceIn(mint: Address, outMint: Address, legs: TradeExpectation["legs"]): number {
  if (mint === outMint) return 1;
  const [first, ...others] = legs.filter((leg) => leg.inMint === mint);
  if (first === undefined || first.inAmount === 0n) return 0;
  const later = legs.filter((leg) => leg !== first && !others.includes(leg));
  return (Number(first.outAmount) / Number(first.inAmount)) * priceIn(first.outMint, outMint, later);
}

/**
 * Everything in the changes that the order does not explain.
 * @param announcedRent the rent that the trade pays by the service's word. Lamports
 */
export function changeProblems(
  changes: WalletChanges,
  expected: TradeExpectation,
  charges: TradeCharges,
  announcedRent: bigint | undefined,
): Problem[] {
  const { mode, amount, threshold, inMint, outMint } = expected;
  const { inAmount, outAmount } = movedBy(changes, expected, charges);
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  const problems = [...changes.problems];
  const refuse = (reason: string, account?: Address) => problems.push(problem(reason, account));
  if (inAmount > mostIn) refuse(`${inAmount} base units leave the wallet, but the order allows ${mostIn}`, inMint);
  if (outAmount < leastOut) refuse(`${outAmount} base units arrive, but the order requires ${leastOut}`, outMint);
  for (const [mint, change] of changes.tokens) {
    if (mint !== inMint && change < 0n) refuse(`${-change} base units of a token outside the order leave`, mint);
  }
  const { rentElsewhere, rentOwn } = changes;
  const sol = changes.lamports + charges.fee + charges.tip + rentElsewhere;
  if (inMint !== SOL_MINT && sol < 0n) refuse(`${inSol(-sol)} SOL leave the wallet, which the order does not explain`);
  const venues = expected.legs.map(({ venue }) => venue);
  if (rentElsewhere > mostRent(0, venues) || rentElsewhere > (announcedRent ?? rentElsewhere)) {
    refuse(`it pays ${inSol(rentElsewhere)} SOL of rent for accounts of others, which the service did not announce`);
  } else if (rentElsewhere + rentOwn > (announcedRent ?? rentElsewhere + rentOwn)) {
    refuse(
      `it pays ${inSol(rentElsewhere + rentOwn)} SOL of rent, but the service announced ${inSol(announcedRent!)} SOL`,
    );
  }
  return problems;
}
