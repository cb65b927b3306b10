import type { Address } from "../../primitives/address.ts";
import { hasBytesAt, readU64 } from "../../primitives/bytes.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { derivedAddress } from "./derived-address.ts";
import { findRung, seedBytes } from "./ladder.ts";
import type { MessageAccount, MessageInstruction } from "./read-transaction.ts";
import type { AccountPlace, LadderRule, SwapTable } from "./swap-table.ts";
import { SWAP_TABLES } from "./swap-tables.ts";

/** What the accounts of a swap are held against. */
export interface SwapContext {
  readonly wallet: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  /** What may stand where the wallet pays from, and where it receives. */
  readonly sources: ReadonlySet<Address>;
  readonly destinations: ReadonlySet<Address>;
  /** Everything of the wallet that no venue account may be. */
  readonly own: ReadonlySet<Address>;
  /** The market the service named. */
  readonly market: Address;
  /** What it expects to move: where price-dependent accounts are looked for first. */
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** One thing wrong with an instruction. */
interface SwapFault {
  readonly account: Address | undefined;
  readonly reason: string;
}

/** The bounds a swap instruction sets on what leaves and what reaches the wallet. */
export interface SwapBounds {
  readonly mostIn: bigint;
  readonly leastOut: bigint;
}

/** True when the program is one of a venue this library knows. */
export function isVenueProgram(program: Address): boolean {
  return SWAP_TABLES.some((table) => table.program === program);
}

/** The table of a swap instruction, by program, discriminator, length and flags; undefined when it is none that is known. */
export function findSwapTable({ program, data }: MessageInstruction): SwapTable | undefined {
  return SWAP_TABLES.find(
    (table) =>
      table.program === program &&
      table.dataLength === data.length &&
      hasBytesAt(data, 0, table.discriminator) &&
      table.flags.every(({ at, is }) => is.includes(data[at]!)),
  );
}

/** What the instruction lets go and demands back. */
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

/** Everything wrong with the accounts and the fixed data of a swap instruction. Empty: they are this trade's. */
export function swapFaults(
  table: SwapTable,
  instruction: MessageInstruction,
  places: readonly AccountPlace[],
  context: SwapContext,
): SwapFault[] {
  const { accounts, data } = instruction;
  const faults: SwapFault[] = [];
  for (const { at, length } of table.zeros) {
    if (data.subarray(at, at + length).some((byte) => byte !== 0)) {
      faults.push({ account: undefined, reason: `bytes ${at} to ${at + length - 1} of ${table.name} are not zero` });
    }
  }
  if (accounts.length !== places.length) {
    faults.push({
      account: accounts[places.length]?.address,
      reason: `${table.name} has ${accounts.length} accounts where ${places.length} are known`,
    });
    return faults;
  }
  const rungs: number[] = [];
  for (const [index, place] of places.entries()) {
    const account = accounts[index]!;
    // The search along a ladder is long where nothing is found; one fault is enough to refuse.
    if (place.rule.kind === "ladder" && faults.length > 0) continue;
    const reason = faultOf(place, account, table, accounts, context, rungs);
    if (reason !== undefined)
      faults.push({ account: account.address, reason: `account ${index} (${place.name}) ${reason}` });
  }
  const either = places.flatMap(({ rule }, index) => (rule.kind === "eitherMint" ? [accounts[index]!.address] : []));
  if (either.length > 0 && new Set(either).size !== 2) {
    faults.push({ account: either[0], reason: "its two mints are not the two of this trade" });
  }
  return faults;
}

function faultOf(
  { rule, writable }: AccountPlace,
  account: MessageAccount,
  table: SwapTable,
  accounts: readonly MessageAccount[],
  context: SwapContext,
  rungs: number[] = [],
): string | undefined {
  const { address } = account;
  // A program in the place of an account left out is never written, whatever the place is for.
  const leftOut = rule.kind === "derived" && rule.orNone && address === table.program;
  if (writable && !account.writable && !leftOut) return "cannot be written";
  switch (rule.kind) {
    case "wallet":
      return address === context.wallet ? undefined : `is not the wallet ${context.wallet}`;
    case "source":
      return context.sources.has(address) ? undefined : "is not the wallet's account of the mint that goes in";
    case "destination":
      return context.destinations.has(address) ? undefined : "is not the wallet's account of the mint that comes out";
    case "inMint":
      return address === context.inMint ? undefined : `is not ${context.inMint}`;
    case "outMint":
      return address === context.outMint ? undefined : `is not ${context.outMint}`;
    case "eitherMint":
      return address === context.inMint || address === context.outMint ? undefined : "is neither mint of this trade";
    case "tokenProgram":
      return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM ? undefined : "is no token program";
    case "fixed":
      return address === rule.address ? undefined : `is not ${rule.address}`;
    case "none":
      return address === table.program ? undefined : "is an account that nobody asked for";
    case "derived": {
      if (rule.orNone && address === table.program) return undefined;
      return address === derivedAddress(rule.program, seedBytes(rule.seeds, accounts))
        ? undefined
        : "does not derive from this trade";
    }
    case "ladder":
      return ladderFault(rule, address, accounts, context, rungs);
    case "market":
      return address === context.market
        ? strangerFault(address, context)
        : `is not the market ${context.market} that the service named`;
    case "venue":
      return strangerFault(address, context);
  }
}

/** What a venue's own account must not be: anything of the wallet's, a mint, or a token program. */
function strangerFault(address: Address, { own, inMint, outMint }: SwapContext): string | undefined {
  if (own.has(address)) return "is an account of the wallet, where one of the venue belongs";
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
  const { inMint, outMint } = context;
  const priced = rule.pricedMint === undefined ? lesser(inMint, outMint) : accounts[rule.pricedMint]!.address;
  const inAmount = Number(context.inAmount);
  const outAmount = Number(context.outAmount);
  const price = priced === inMint ? outAmount / inAmount : inAmount / outAmount;
  const rung = findRung(rule, seedBytes(rule.seeds, accounts), address, price, rungs);
  if (rung === undefined) return "does not derive from this market";
  rungs.push(rung);
  return undefined;
}

function lesser(a: Address, b: Address): Address {
  for (let i = 0; i < 32; i++) {
    if (a.bytes[i] !== b.bytes[i]) return a.bytes[i]! < b.bytes[i]! ? a : b;
  }
  return a;
}
