import { Address, compareAddresses } from "../../../src/primitives/address.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { Account, AccountView } from "../../../src/solana/account.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { MintPair } from "../../../src/venues/venue.ts";
import type { SampleMarket } from "../../support/sample-markets.ts";

/** A market of another mint, made after a sample: its accounts, null for those that do not exist. */
export interface ClonedMarket {
  readonly mint: Address;
  readonly market: Address;
  readonly accounts: ReadonlyMap<Address, Account | null>;
}

/** Rounds of reads that a market may need until it is ready. */
const MOST_ROUNDS = 8;

/** What a copy is made with. */
interface CloneTerms {
  /** The mint that all samples trade against SOL. */
  readonly sampleMint: Address;
  /** The mint of the copy; undefined for a new one. */
  readonly mint: Address | undefined;
  readonly random: Random;
}

/**
 * Copies a sample under new addresses: the market, its mint and every account that it names. Accounts that a program derives are
 * found by asking the venue what each of the two markets needs, in the same order.
 */
export function cloneMarket(sample: SampleMarket, terms: CloneTerms): ClonedMarket {
  const { venue } = sample;
  const { sampleMint, random } = terms;
  const mint = terms.mint ?? newMint(sampleMint, random);
  const pair: MintPair = { a: mint, b: SOL_MINT };
  const renamed = new Map<Address, Address>([
    [sampleMint, mint],
    [SOL_MINT, SOL_MINT],
  ]);
  const original = sample.hot.market.address;
  const market = probedLike(sample, sampleMint, pair) ?? Address.from(random.bytes(32));
  renamed.set(original, market);
  const accounts = new Map<Address, Account | null>();
  const view: AccountView = { get: (address) => accounts.get(address) };
  const seen = new Map<Address, Account | null>();
  const seenView: AccountView = { get: (address) => seen.get(address) };
  const copy = (from: Address, to: Address) => {
    const account = sample.accounts.get(from) ?? null;
    seen.set(from, account);
    if (account !== null) {
      // Whatever the account names gets its new name before it is copied.
      for (const named of namesIn(account, sample)) {
        if (!renamed.has(named)) renamed.set(named, Address.from(random.bytes(32)));
      }
    }
    accounts.set(to, account === null ? null : { ...account, address: to, data: rename(account.data, renamed) });
  };
  copy(original, market);
  const twin = venue.decode(accounts.get(market)!, pair);
  if (twin === undefined) throw new Error(`${venue.id}: the copy is not a market`);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const wanted = venue.needs(sample.hot.market, seenView);
    const wantedByTwin = venue.needs(twin, view);
    if (wantedByTwin.length === 0) break;
    if (wanted.length !== wantedByTwin.length) throw new Error(`${venue.id}: the copy needs other accounts`);
    for (const [index, from] of wanted.entries()) renamed.set(from, wantedByTwin[index]!);
    for (const [index, from] of wanted.entries()) copy(from, wantedByTwin[index]!);
  }
  venue.read(twin, view);
  return { mint, market, accounts };
}

/** A mint on the same side of SOL: programs sort the two. */
function newMint(sampleMint: Address, random: Random): Address {
  for (;;) {
    const mint = Address.from(random.bytes(32));
    if (compareAddresses(mint, SOL_MINT) < 0 === compareAddresses(sampleMint, SOL_MINT) < 0) return mint;
  }
}

/** The address that the venue derives for the other pair where it derives the sample's; undefined if it derives none. */
function probedLike({ venue, hot }: SampleMarket, sampleMint: Address, pair: MintPair): Address | undefined {
  const probes = (of: MintPair) =>
    venue.search(of).flatMap((search) => (search.kind === "probe" ? search.addresses : []));
  const place = probes({ a: sampleMint, b: SOL_MINT }).indexOf(hot.market.address);
  return place < 0 ? undefined : probes(pair)[place];
}

/** Accounts of the sample that an account's bytes name. */
function namesIn({ data }: Account, { addresses }: SampleMarket): Address[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  return addresses.filter((address) => bytes.includes(Buffer.from(address.bytes)));
}

function rename(data: Uint8Array, renamed: ReadonlyMap<Address, Address>): Uint8Array {
  const bytes = Buffer.from(data);
  for (const [from, to] of renamed) {
    for (let at = bytes.indexOf(from.bytes); at >= 0; at = bytes.indexOf(from.bytes, at + 32)) bytes.set(to.bytes, at);
  }
  return Uint8Array.from(bytes);
}
