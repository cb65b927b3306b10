import { type Address, compareAddresses } from "../../primitives/address.ts";
import { equalBytes, hasBytesAt, readU64 } from "../../primitives/bytes.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { derivedAddress } from "./derived-address.ts";
import type { MessageAccount, MessageInstruction } from "./read-transaction.ts";
import { findRung, isRung, type LadderSearch, seedBytes } from "./venues/ladder.ts";
import type { AccountPlace, LadderRule, SwapTable } from "./venues/swap-table.ts";
import { SWAP_PREPARATIONS, SWAP_TABLES } from "./venues/swap-tables.ts";

/** What the accounts of a swap must match. */
export interface SwapContext {
  readonly wallet: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Accounts the wallet may pay from, and receive into. */
  readonly sources: ReadonlySet<Address>;
  readonly destinations: ReadonlySet<Address>;
  /** The wallet's own accounts, which no venue account may be. */
  readonly own: ReadonlySet<Address>;
  /** The venue and the market that the service announced. */
  readonly venue: string;
  readonly market: Address;
  /** Estimated amounts: the search for price-dependent accounts starts at their price. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** The announced numbers of price-dependent accounts, in their order. */
  readonly arrayNumbers?: readonly number[] | undefined;
  /** What the transaction's searches may still cost. */
  readonly search: LadderSearch;
}

/** One thing wrong with an instruction. */
interface SwapFault {
  readonly account: Address | undefined;
  readonly reason: string;
}

/** The bounds that a swap instruction sets on what leaves and what reaches the wallet. */
export interface SwapBounds {
  readonly mostIn: bigint;
  readonly leastOut: bigint;
}

/** True if the program belongs to a known venue. */
export function isVenueProgram(program: Address): boolean {
  return SWAP_TABLES.some((table) => table.program === program);
}

/** True for an instruction that makes a market ready for a swap. */
export function isPreparation({ program, data }: MessageInstruction): boolean {
  return SWAP_PREPARATIONS.some((one) => one.program === program && equalBytes(one.discriminator, data));
}

/** Everything wrong with the accounts of a preparation. Empty if it prepares the announced market. */
export function preparationFaults(instruction: MessageInstruction, context: SwapContext): SwapFault[] {
  const table = SWAP_PREPARATIONS.find(
    ({ program, venue }) => program === instruction.program && venue === context.venue,
  );
  if (table === undefined) return [{ account: instruction.program, reason: "it prepares another venue's market" }];
  return accountFaults(table, instruction.accounts, table.accounts, context, false);
}

/** The table of a swap instruction, by program, discriminator, length and flags; undefined if it is unknown. */
export function findSwapTable({ program, data }: MessageInstruction): SwapTable | undefined {
  return SWAP_TABLES.find(
    (table) =>
      table.program === program &&
      table.dataLength === data.length &&
      hasBytesAt(data, 0, table.discriminator) &&
      table.flags.every(({ at, is }) => is.includes(data[at]!)),
  );
}

/** True if the venue has an instruction for an exact output that takes the accounts of this one. */
export function hasExactOutput(table: SwapTable): boolean {
  const kinds = kindsOf(table);
  return SWAP_TABLES.some(
    (other) => other.program === table.program && other.exact === "out" && kindsOf(other) === kinds,
  );
}

function kindsOf({ accounts }: SwapTable): string {
  return accounts.map(({ rule }) => rule.kind).join();
}

/** The instruction's maximum input and minimum output. */
export function swapBounds(table: SwapTable, data: Uint8Array): SwapBounds {
  return { mostIn: readU64(data, table.inAt), leastOut: readU64(data, table.outAt) };
}

/** The list of places that fits the instruction's number of accounts best: the fixed ones, one tail, the repeated ones. */
export function placesOf(
  table: SwapTable,
  { accounts }: MessageInstruction,
  context: SwapContext,
): readonly AccountPlace[] {
  const fitting = table.tails
    .map((tail) => withRepeated(table, [...table.accounts, ...tail], accounts.length))
    .filter((places) => places !== undefined);
  if (fitting.length < 2) return fitting[0] ?? table.accounts;
  const faultsOf = (places: readonly AccountPlace[]) =>
    places
      .slice(table.accounts.length)
      .filter(
        (place, index) =>
          place.rule.kind !== "ladder" &&
          faultOf(place, accounts[table.accounts.length + index]!, table, accounts, context) !== undefined,
      ).length;
  return fitting.reduce((best, places) => (faultsOf(places) < faultsOf(best) ? places : best));
}

function withRepeated(table: SwapTable, places: readonly AccountPlace[], count: number): AccountPlace[] | undefined {
  const rest = count - places.length;
  const { repeated } = table;
  if (repeated === undefined) return rest === 0 ? [...places] : undefined;
  if (rest < repeated.least || rest > repeated.most) return undefined;
  return [...places, ...Array.from({ length: rest }, () => repeated.place)];
}

/**
 * Everything wrong with the accounts and fixed data of a swap instruction. Empty if they match this trade.
 * @param isRefused true if the transaction is refused anyway: long searches are left out
 */
export function swapFaults(
  table: SwapTable,
  instruction: MessageInstruction,
  places: readonly AccountPlace[],
  context: SwapContext,
  isRefused: boolean,
): SwapFault[] {
  const { accounts, data } = instruction;
  const faults: SwapFault[] = [];
  for (const { at, length } of table.zeros) {
    if (data.subarray(at, at + length).some((byte) => byte !== 0)) {
      faults.push({ account: undefined, reason: `bytes ${at} to ${at + length - 1} of ${table.name} are not zero` });
    }
  }
  const side = { in: context.inMint, out: context.outMint };
  if (table.solSide !== undefined && side[table.solSide] !== SOL_MINT) {
    const way = table.solSide === "in" ? "pays" : "yields";
    faults.push({ account: undefined, reason: `${table.name} ${way} SOL, which is not what this swap ${way}` });
  }
  return [...faults, ...accountFaults(table, accounts, places, context, isRefused || faults.length > 0)];
}

function accountFaults(
  table: Pick<SwapTable, "name" | "program">,
  accounts: readonly MessageAccount[],
  places: readonly AccountPlace[],
  context: SwapContext,
  isRefused: boolean,
): SwapFault[] {
  if (accounts.length !== places.length) {
    const reason = `${table.name} has ${accounts.length} accounts instead of ${places.length}`;
    return [{ account: accounts[places.length]?.address, reason }];
  }
  const faults: SwapFault[] = [];
  const rungs: number[] = [];
  for (const [index, place] of places.entries()) {
    const account = accounts[index]!;
    // A fruitless search along a ladder takes long; one fault is enough to refuse.
    if (place.rule.kind === "ladder" && (isRefused || faults.length > 0)) continue;
    const reason = faultOf(place, account, table, accounts, context, rungs);
    if (reason !== undefined)
      faults.push({ account: account.address, reason: `account ${index} (${place.name}) ${reason}` });
  }
  const either = places.flatMap(({ rule }, index) => (rule.kind === "eitherMint" ? [accounts[index]!.address] : []));
  if (either.length > 0 && new Set(either).size !== 2) {
    faults.push({ account: either[0], reason: "its two mints are not those of this trade" });
  }
  return faults;
}

function faultOf(
  { rule, writable }: AccountPlace,
  account: MessageAccount,
  table: Pick<SwapTable, "program">,
  accounts: readonly MessageAccount[],
  context: SwapContext,
  rungs: number[] = [],
): string | undefined {
  const { address } = account;
  // A program that stands in for an omitted account is never written.
  const leftOut = rule.kind === "derived" && rule.orNone && address === table.program;
  if (writable && !account.writable && !leftOut) return "is not writable";
  switch (rule.kind) {
    case "wallet":
      return address === context.wallet ? undefined : `is not the wallet ${context.wallet}`;
    case "source":
      return context.sources.has(address) ? undefined : "is not the wallet's account of the input mint";
    case "destination":
      return context.destinations.has(address) ? undefined : "is not the wallet's account of the output mint";
    case "inMint":
      return address === context.inMint ? undefined : `is not ${context.inMint}`;
    case "outMint":
      return address === context.outMint ? undefined : `is not ${context.outMint}`;
    case "eitherMint":
      return address === context.inMint || address === context.outMint ? undefined : "is neither mint of this trade";
    case "tokenProgram":
      return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM ? undefined : "is not a token program";
    case "fixed":
      return address === rule.address ? undefined : `is not ${rule.address}`;
    case "none":
      return address === table.program ? undefined : "is an optional account that this trade does not use";
    case "derived": {
      if (rule.orNone && address === table.program) return undefined;
      return address === derivedAddress(rule.program, seedBytes(rule.seeds, accounts, context))
        ? undefined
        : "is not derived from this trade";
    }
    case "ladder":
      return ladderFault(rule, address, accounts, context, rungs);
    case "market":
      return address === context.market
        ? strangerFault(address, context)
        : `is not the announced market ${context.market}`;
    case "venue":
      return strangerFault(address, context);
  }
}

/** A venue's own account must not be the wallet's, a mint or a token program. */
function strangerFault(address: Address, { own, inMint, outMint }: SwapContext): string | undefined {
  if (own.has(address)) return "is an account of the wallet instead of the venue";
  if (address === inMint || address === outMint || address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM) {
    return "is not an account of the venue";
  }
  return undefined;
}

function ladderFault(
  rule: LadderRule,
  address: Address,
  accounts: readonly MessageAccount[],
  context: SwapContext,
  rungs: number[],
): string | undefined {
  const { inMint, outMint, search } = context;
  const seeds = seedBytes(rule.seeds, accounts, context);
  const announced = context.arrayNumbers?.[rungs.length];
  if (isRung(rule, seeds, address, announced, search)) {
    rungs.push(announced);
    return undefined;
  }
  const priced =
    rule.pricedMint === undefined
      ? compareAddresses(inMint, outMint) < 0
        ? inMint
        : outMint
      : accounts[rule.pricedMint]!.address;
  const inAmount = Number(context.inAmount);
  const outAmount = Number(context.outAmount);
  const [price, direction] = priced === inMint ? [outAmount / inAmount, -1] : [inAmount / outAmount, 1];
  const rung = findRung(rule, seeds, address, price, rungs, direction, search);
  if (rung === undefined) return "is not derived from this market";
  rungs.push(rung);
  return undefined;
}
