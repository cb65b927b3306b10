import { Address } from "../primitives/address.ts";
import type { Account, AccountView, ChainClock } from "../solana/account.ts";
import type { MintPair } from "../venues/venue.ts";
import type { CheckedAnswer, CheckOrder, SentAccount, ShadowAnswer, ShadowOrder } from "./protocol.ts";
import type { ReadAccounts } from "./shared-read.ts";

/** The build of a program that the chain runs. */
export interface ProgramBuild {
  readonly id: Address;
  readonly isUpgradeable: boolean;
  readonly slot: bigint;
}

/** The programs of the chain, followed. */
interface ProgramSource {
  /** Follows programs; resolves once their builds are known. @throws Error if no node answers */
  follow(ids: readonly Address[]): Promise<void>;
  /** Null if it cannot be read, undefined if it is not known yet. */
  get(id: Address): ProgramBuild | null | undefined;
  /** The code of the build that runs now, with that build; undefined if it changes meanwhile. @throws Error if no node answers */
  fetchCode(id: Address): Promise<{ readonly build: ProgramBuild; readonly code: Uint8Array } | undefined>;
}

/** What a check reads. */
export interface CheckPorts {
  readonly send: (order: ShadowOrder) => Promise<ShadowAnswer | undefined>;
  readonly programs: ProgramSource;
  /** @throws Error if no node answers */
  readonly fetchAccounts: (
    addresses: readonly Address[],
  ) => Promise<{ readonly accounts: readonly (Account | null)[] }>;
  readonly head: { clock(): ChainClock; rentExemption(space: number): bigint };
}

/** A market to check. */
export interface CheckedMarket {
  readonly venueId: string;
  readonly address: Address;
  readonly pair: MintPair;
  /** The accounts behind its state. */
  readonly held: Iterable<Address>;
  readonly view: AccountView;
  /** Further accounts and programs that its instructions name, found by earlier checks; this check adds to them. */
  readonly extras: Set<Address>;
  readonly programs: Set<Address>;
}

/** How a check ended. */
export type CheckResult =
  | (Omit<CheckedAnswer, "programs"> & {
      readonly slot: bigint;
      /** The builds it ran on. */
      readonly builds: ReadonlyMap<Address, bigint>;
    })
  | { readonly kind: "unable"; readonly reason: string }
  | { readonly kind: "busy" }
  /** The process ended or does not answer. */
  | { readonly kind: "down" };

/** Rounds in which a check may ask for more accounts and programs. */
const MAX_ROUNDS = 10;
/** Reads at one slot before a difference counts. */
const CONSISTENT_TRIES = 2;
const ACCOUNT_OVERHEAD_BYTES = 128n;
/** Further accounts remembered of a market; past this they are found again: prices move on from the accounts that they named. */
const MAX_EXTRAS = 80;

/** How a check is made. */
interface CheckOptions {
  readonly turn: number;
  /** True: on accounts read for it. */
  readonly isSample: boolean;
  /** True: only if the budget of processor time allows. */
  readonly isRoutine: boolean;
  /** What was read for this check already. */
  readonly known?: ReadAccounts | undefined;
}

/**
 * Checks a market on the accounts in memory, a sample on accounts read for it. A difference counts only if it shows again on
 * accounts read together, at one slot: those in memory may be of different moments.
 */
export async function runCheck(ports: CheckPorts, market: CheckedMarket, options: CheckOptions): Promise<CheckResult> {
  if (market.extras.size > MAX_EXTRAS) market.extras.clear();
  let result = await attempt(ports, market, { ...options, isFresh: options.isSample });
  for (let again = 0; again < CONSISTENT_TRIES; again++) {
    if (result.kind !== "checked" || result.differences.length === 0) break;
    result = await attempt(ports, market, { turn: options.turn, isRoutine: false, isFresh: true });
  }
  return result;
}

async function attempt(
  ports: CheckPorts,
  market: CheckedMarket,
  { turn, isRoutine, isFresh, known }: Omit<CheckOptions, "isSample"> & { readonly isFresh: boolean },
): Promise<CheckResult> {
  const accounts = new Map<Address, Account | null>();
  const held = heldBy(market);
  if (!isFresh) for (const address of held) addKnown(accounts, address, market.view.get(address));
  for (const address of [...held, ...market.extras])
    if (!accounts.has(address)) addKnown(accounts, address, known?.get(address));
  const read = async (addresses: Iterable<Address>) => {
    const unread = [...addresses].filter((address) => !accounts.has(address));
    if (unread.length === 0) return;
    const { accounts: found } = await ports.fetchAccounts(unread);
    for (const [i, address] of unread.entries()) accounts.set(address, found[i] ?? null);
  };
  await read([...held, ...market.extras]);
  const uploaded = new Set<Address>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await ports.programs.follow([...market.programs]);
    const builds = buildsOf(ports.programs, market.programs);
    const clock = ports.head.clock();
    const answer = await ports.send(orderOf(ports, market, accounts, builds, { clock, turn, isRoutine }));
    if (answer === undefined) return { kind: "down" };
    if (answer.kind === "checked") {
      const now = buildsOf(ports.programs, market.programs);
      if ([...builds].some(([id, slot]) => now.get(id) !== slot)) continue;
      return { ...answer, slot: clock.slot, builds };
    }
    if (answer.kind === "busy" || answer.kind === "unable") return answer;
    if (answer.kind !== "lacks") return { kind: "unable", reason: "the shadow process gave another answer" };
    const more = answer.accounts.map((bytes) => Address.from(bytes));
    for (const address of more) market.extras.add(address);
    await read(more);
    const problem = await provide(ports, market, answer.programs, uploaded);
    if (problem !== undefined) return problem;
  }
  return { kind: "unable", reason: "it needs too many rounds of reads" };
}

/** The accounts behind a market's state, its own among them. */
export function heldBy({ address, held }: Pick<CheckedMarket, "address" | "held">): readonly Address[] {
  return [...new Set([address, ...held])];
}

/** Names the builds of programs to the process, or uploads those that it does not have. */
async function provide(
  { programs, send }: CheckPorts,
  market: CheckedMarket,
  lacking: readonly Uint8Array[],
  uploaded: Set<Address>,
): Promise<CheckResult | undefined> {
  for (const bytes of lacking) {
    const id = Address.from(bytes);
    if (!market.programs.has(id)) {
      market.programs.add(id);
      await programs.follow([id]);
      if (programs.get(id) == null) return { kind: "unable", reason: `the program ${id} cannot be read` };
      continue;
    }
    const fetched = await programs.fetchCode(id);
    if (fetched === undefined) {
      if (uploaded.has(id)) return { kind: "unable", reason: `the program ${id} is being replaced` };
      uploaded.add(id);
      continue;
    }
    const { build, code } = fetched;
    const answer = await send({
      kind: "program",
      id: bytes,
      slot: build.slot,
      isUpgradeable: build.isUpgradeable,
      code,
    });
    if (answer === undefined) return { kind: "down" };
  }
  return undefined;
}

function addKnown(accounts: Map<Address, Account | null>, address: Address, account: Account | null | undefined): void {
  if (account !== undefined) accounts.set(address, account);
}

function buildsOf(programs: ProgramSource, ids: Iterable<Address>): ReadonlyMap<Address, bigint> {
  const builds = new Map<Address, bigint>();
  for (const id of ids) {
    const build = programs.get(id);
    if (build != null) builds.set(id, build.slot);
  }
  return builds;
}

function orderOf(
  { head }: CheckPorts,
  { venueId, address, pair }: CheckedMarket,
  accounts: ReadonlyMap<Address, Account | null>,
  builds: ReadonlyMap<Address, bigint>,
  more: Pick<CheckOrder, "clock" | "turn" | "isRoutine">,
): CheckOrder {
  const sent: SentAccount[] = [];
  const missing: Uint8Array[] = [];
  for (const [key, account] of accounts) {
    if (account === null) missing.push(key.bytes);
    else sent.push(sentOf(account));
  }
  return {
    kind: "check",
    venue: venueId,
    market: address.bytes,
    pair: [pair.a.bytes, pair.b.bytes],
    accounts: sent,
    missing,
    programs: [...builds].map(([id, slot]) => ({ id: id.bytes, slot })),
    rentLamportsPerByte: head.rentExemption(0) / ACCOUNT_OVERHEAD_BYTES,
    ...more,
  };
}

function sentOf({ address, owner, lamports, data, executable, slot }: Account): SentAccount {
  return { address: address.bytes, owner: owner.bytes, lamports, data, executable, slot };
}
