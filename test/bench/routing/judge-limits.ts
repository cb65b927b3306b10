import { createHash } from "node:crypto";
import { Address } from "../../../src/primitives/address.ts";
import { leanest } from "../../../src/venues/venue.ts";
import type { Edge } from "./judge-edges.ts";
import type { RoutingWorld } from "./worlds.ts";

/** Limits of the network on one transaction, whatever its version. */
const MOST_ACCOUNTS = 64;
const MOST_UNITS = 1_400_000;
const WALLET = Address.from(new Uint8Array(32).fill(7));

/** What is traded on each edge. */
interface Spreading {
  readonly used: ReadonlySet<number>;
  readonly taken: Float64Array;
}

/** True if the swaps of these edges take no more accounts and compute units than a transaction has, in their leanest form, for a wallet that has its token accounts. */
export function fitsLimits(edges: readonly Edge[], { used, taken }: Spreading, { clock }: RoutingWorld): boolean {
  const accounts = new Set<Address>([WALLET]);
  let units = 0;
  for (const index of used) {
    const { hot, inMint, outMint } = edges[index]!;
    const amount = BigInt(Math.floor(taken[index]!));
    try {
      const quoted = hot.venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount, clock });
      const quote = leanest(hot.venue, hot.state, quoted) ?? quoted;
      const leg = hot.venue.swap(hot.state, quote, {
        wallet: WALLET,
        source: heldIn(inMint),
        destination: heldIn(outMint),
        threshold: 1n,
        salt: 0,
        exists: () => true,
      });
      units += leg.computeUnits;
      for (const { program, accounts: named } of leg.instructions) {
        accounts.add(program);
        for (const { address } of named) accounts.add(address);
      }
    } catch {
      return false;
    }
  }
  return accounts.size <= MOST_ACCOUNTS && units <= MOST_UNITS;
}

/** Stands for the wallet's account of a mint. */
function heldIn(mint: Address): Address {
  return Address.from(createHash("sha256").update("held").update(mint.bytes).digest());
}
