import { createHash } from "node:crypto";
import { Address } from "../../../src/primitives/address.ts";
import type { ChainClock } from "../../../src/solana/account.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { SwapLeg, SwapTerms } from "../../../src/venues/venue.ts";
import type { SampleMarket } from "../../support/sample-markets.ts";

/** Terms of a swap whose accounts stand for those of any wallet. */
const ANYBODY = Address.from(new Uint8Array(32).fill(3));
const SOURCE = Address.from(new Uint8Array(32).fill(4));
const DESTINATION = Address.from(new Uint8Array(32).fill(5));
const TERMS: SwapTerms = {
  wallet: ANYBODY,
  source: SOURCE,
  destination: DESTINATION,
  threshold: 1n,
  salt: 0,
  exists: () => true,
};
/** Base units of a trade that stays within the arrays at the price. */
const SMALL = 1_000_000n;

/** The accounts of a small swap on a market, in both directions. */
export function accountsOfMarket(
  { venue, hot }: Pick<SampleMarket, "venue" | "hot">,
  mints: readonly [Address, Address],
  clock: ChainClock,
  terms = TERMS,
): readonly Address[] {
  const found = new Set<Address>();
  for (const [inMint, outMint] of [mints, mints.toReversed()] as (readonly [Address, Address])[]) {
    const quote = venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount: SMALL, clock });
    for (const { program, accounts } of venue.swap(hot.state, quote, terms).instructions) {
      found.add(program);
      for (const { address } of accounts) found.add(address);
    }
  }
  for (const own of [terms.wallet, SOURCE, DESTINATION]) found.delete(own);
  return [...found];
}

/** Accounts that markets of the same programs share in trades of a wallet, its own among them: what two samples both name. */
export function sharedAccounts(
  samples: readonly SampleMarket[],
  mint: Address,
  clock: ChainClock,
  wallet: Address,
): Set<Address> {
  const [seen, shared] = [new Set<Address>(), new Set<Address>()];
  for (const sample of samples)
    for (const address of accountsOfMarket(sample, [mint, SOL_MINT], clock, { ...TERMS, wallet }))
      if (seen.has(address)) shared.add(address);
      else seen.add(address);
  return shared;
}

/** The leg of a sample with the accounts of another market: its own ones get addresses of their own. */
export function renamedLeg(
  leg: SwapLeg,
  market: Address,
  kept: ReadonlySet<Address>,
  mints: ReadonlyMap<Address, Address>,
): SwapLeg {
  const rename = (address: Address): Address => {
    const mint = mints.get(address);
    if (mint !== undefined) return mint;
    if (kept.has(address)) return address;
    return Address.from(createHash("sha256").update(address.bytes).update(market.bytes).digest());
  };
  const instructions = leg.instructions.map(({ program, accounts, data }) => ({
    program,
    data,
    accounts: accounts.map((account) => ({ ...account, address: rename(account.address) })),
  }));
  return { ...leg, instructions, creates: leg.creates.map((one) => ({ ...one, address: rename(one.address) })) };
}
