import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../../src/primitives/address.ts";
import { viewOf } from "../../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../../src/primitives/random.ts";
import type { Account, AccountView, ChainClock } from "../../../../src/solana/account.ts";
import type { Market, MintPair, Quote, Venue } from "../../../../src/venues/venue.ts";

/** A market whose accounts are changed at random. */
export interface Corruptible {
  readonly venue: Venue;
  readonly address: Address;
  readonly pair: MintPair;
  readonly clock: ChainClock;
  readonly accounts: AccountView;
  /** Accounts that its state is read from, the market's own among them. */
  readonly read: readonly Account[];
}

/** What a venue made of corrupted accounts. */
export interface Findings {
  quoted: number;
  refused: number;
  /** What it threw that is no refusal, and quotes or instructions that cannot be. Each names its seed. */
  readonly faults: string[];
  /** Processor time of the slowest call. Milliseconds. */
  slowestMs: number;
  slowest: string;
}

export const nothingFound = (): Findings => ({ quoted: 0, refused: 0, faults: [], slowestMs: 0, slowest: "" });

const U64_MAX = (1n << 64n) - 1n;
const AMOUNTS = [1n, 1_000n, 1_000_000n, 10n ** 9n, 10n ** 12n, 1n << 50n, 1n << 63n, U64_MAX];
const ROUNDS = 4;
/** Bytes that say what an account is: spared in most cases, for else everything is refused at once. */
const DISCRIMINATOR = 8;

/** The accounts that a market's state is read from. */
export function accountsRead(venue: Venue, market: Market, accounts: AccountView): readonly Account[] {
  const seen = new Map<Address, Account>();
  venue.read(market, {
    get(address) {
      const account = accounts.get(address);
      if (account != null) seen.set(address, account);
      return account;
    },
  });
  const own = accounts.get(market.address);
  if (own != null) seen.set(own.address, own);
  return [...seen.values()];
}

/** Corrupts accounts as the seed says, and asks the venue for everything that a trade asks for. */
export function tryCorrupted(subject: Corruptible, seed: number, found: Findings): void {
  const random = createRandom(seed);
  const changed = corrupt(subject, random);
  const view: AccountView = { get: (address) => changed.get(address) ?? subject.accounts.get(address) ?? null };
  const timed = <T>(name: string, call: () => T): T | undefined => {
    const began = process.cpuUsage();
    try {
      return call();
    } catch (error) {
      if (error instanceof TradewireError) found.refused++;
      else if (found.faults.length < 1_000)
        found.faults.push(`${subject.venue.id} seed ${seed}, ${name}: ${stackOf(error)}`);
      return undefined;
    } finally {
      const { user, system } = process.cpuUsage(began);
      const ms = (user + system) / 1_000;
      if (ms > found.slowestMs) {
        found.slowestMs = ms;
        found.slowest = `${subject.venue.id} seed ${seed}, ${name}`;
      }
    }
  };
  const { venue, pair, clock } = subject;
  const own = view.get(subject.address)!;
  const market = timed("decode", () => venue.decode(own, pair));
  if (market === undefined) return;
  for (let round = 0; round < ROUNDS; round++) timed("needs", () => venue.needs(market, withKnown(view, round)));
  const state = timed("read", () => venue.read(market, view));
  if (state === undefined) return;
  const [a, b] = market.mints;
  for (const [inMint, outMint] of [[a, b] as const, [b, a] as const]) {
    for (const mode of ["exactIn", "exactOut"] as const) {
      for (const amount of AMOUNTS) {
        const name = `${mode} ${amount} ${inMint === a ? "a to b" : "b to a"}`;
        const quote = timed(name, () => venue.quote(state, { mode, inMint, outMint, amount, clock }));
        if (quote === undefined) continue;
        found.quoted++;
        const wrong = wrongOf(quote, amount);
        if (wrong !== undefined) found.faults.push(`${venue.id} seed ${seed}, ${name}: ${wrong}`);
        const leg = timed(`swap ${name}`, () => venue.swap(state, quote, termsOf(subject, quote)));
        if (leg !== undefined && !(Number.isSafeInteger(leg.computeUnits) && leg.computeUnits >= 0))
          found.faults.push(`${venue.id} seed ${seed}, ${name}: ${leg.computeUnits} compute units`);
        if (venue.after !== undefined) timed(`after ${name}`, () => venue.after!(state, quote, state));
      }
    }
  }
}

/** Only the market's own account in the first round, everything later. */
const withKnown = (view: AccountView, round: number): AccountView => (round === 0 ? { get: () => undefined } : view);

function termsOf({ address }: Corruptible, { mode, inAmount, outAmount }: Quote) {
  return {
    wallet: address,
    source: address,
    destination: address,
    threshold: mode === "exactIn" ? outAmount : inAmount,
    salt: 7,
    exists: () => false,
  };
}

function wrongOf({ mode, inAmount, outAmount, priceImpact }: Quote, amount: bigint): string | undefined {
  if (inAmount <= 0n || inAmount > U64_MAX || outAmount <= 0n || outAmount > U64_MAX)
    return `quotes ${inAmount} for ${outAmount}`;
  if (!(priceImpact >= 0 && priceImpact <= 1)) return `a price impact of ${priceImpact}`;
  if (mode === "exactIn" ? inAmount > amount : outAmount < amount)
    return `quotes ${inAmount} for ${outAmount}, asked for ${amount}`;
  return undefined;
}

function corrupt({ read, address }: Corruptible, random: Random): ReadonlyMap<Address, Account> {
  const changed = new Map<Address, Account>();
  const times = 1 + Number(random.below(4n));
  for (let time = 0; time < times; time++) {
    // The market's own account half of the time: most of what is wrong with a market is there.
    const chosen =
      random.below(2n) === 0n
        ? read.find((one) => one.address === address)!
        : read[Number(random.below(BigInt(read.length)))]!;
    const before = changed.get(chosen.address) ?? chosen;
    const data = before.data.slice();
    if (data.length === 0) continue;
    change(data, random);
    const isCut = random.below(50n) === 0n;
    changed.set(chosen.address, {
      ...before,
      data: isCut ? data.subarray(0, Number(random.below(BigInt(data.length)))) : data,
    });
  }
  return changed;
}

function change(data: Uint8Array, random: Random): void {
  const width = [1, 2, 4, 8, 16][Number(random.below(5n))]!;
  const least = random.below(20n) === 0n ? 0 : Math.min(DISCRIMINATOR, data.length - 1);
  const at = Math.min(least + Number(random.below(BigInt(data.length - least))), data.length - 1);
  const end = Math.min(at + width, data.length);
  const view = viewOf(data);
  switch (Number(random.below(7n))) {
    case 0:
      data.fill(0, at, end);
      break;
    case 1:
      data.fill(255, at, end);
      break;
    case 2:
      data.fill(0, at, end);
      data[at] = 1 + Number(random.below(4n));
      break;
    case 3:
      // The greatest or least of a signed number.
      data.fill(255, at, end);
      data[end - 1] = 127;
      break;
    case 4:
      data.fill(0, at, end);
      data[end - 1] = 128;
      break;
    case 5:
      for (let place = at; place < end; place++) data[place] = Number(random.below(256n));
      break;
    default:
      view.setUint8(at, view.getUint8(at) ^ (1 << Number(random.below(8n))));
  }
}

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message).split("\n").slice(0, 3).join(" ") : String(error);
