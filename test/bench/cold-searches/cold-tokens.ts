import { randomBytes } from "node:crypto";
import { Address } from "../../../src/primitives/address.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { CPMM_PROGRAM } from "../../../src/sandbox/world/cpmm.ts";

/** Places in a pool's account: its vaults and its mints. */
const VAULTS = [72, 104] as const;
const MINTS = [168, 200] as const;

/** Puts copies of a token and of one of its pools on the chain, each under addresses of its own. @returns their mints */
export async function putColdTokens(sandbox: Sandbox, original: Address, count: number): Promise<Address[]> {
  const { accounts } = sandbox.world;
  const namedAt = (data: Uint8Array, places: readonly number[]) => places.map((at) => Address.from(data, at));
  const pool = accounts.find(
    ({ owner, data }) => owner === CPMM_PROGRAM && data.length >= 637 && namedAt(data, MINTS).includes(original),
  );
  if (pool === undefined) throw new Error(`${original} has no pool`);
  const vaults = namedAt(pool.data, VAULTS);
  const parts = [pool, ...accounts.filter(({ address }) => address === original || vaults.includes(address))];
  const mints: Address[] = [];
  for (let i = 0; i < count; i++) {
    const renamed = new Map(parts.map(({ address }) => [address, newAddress()]));
    // Its pool names the two mints in the order of their bytes.
    const mint = newAddress(original.bytes[0]);
    renamed.set(original, mint);
    const copies = parts.map((account) => {
      const data = account.data.slice();
      for (let at = 0; at + 32 <= data.length; at++) {
        const to = renamed.get(Address.from(data, at));
        if (to !== undefined) data.set(to.bytes, at);
      }
      return { ...account, address: renamed.get(account.address)!, data };
    });
    await sandbox.setAccounts(copies);
    mints.push(mint);
  }
  return mints;
}

/** An address that nobody knows. */
export function newAddress(first?: number): Address {
  const bytes = Uint8Array.from(randomBytes(32));
  if (first !== undefined) bytes[0] = first;
  return Address.from(bytes);
}
