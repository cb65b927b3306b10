import type { Address } from "../../primitives/address.ts";
import { decodeLookupTable } from "../../solana/lookup-table.ts";
import type { LookupTable } from "../../solana/message.ts";
import type { AccountReader } from "../port.ts";

/** The operator's lookup tables, kept as they stand on the chain. */
interface LiveLookupTables {
  /** From memory. */
  tables(): readonly LookupTable[];
  close(): void;
}

/** Tables only ever grow, and what is new in one is not needed at once. */
const REFRESH_MS = 60_000;

/**
 * Reads the tables and again every minute. One that cannot be used is left out, and said so once.
 * @throws TradewireError UPSTREAM_ERROR when the first read fails
 */
export async function createLookupTables(options: {
  readonly reader: AccountReader;
  readonly addresses: readonly Address[];
  readonly warn: (message: string) => void;
}): Promise<LiveLookupTables> {
  const { reader, addresses, warn } = options;
  const warned = new Set<Address>();
  let tables: readonly LookupTable[] = [];
  const read = async () => {
    const { accounts } = await reader.fetchAccounts(addresses);
    tables = accounts.flatMap((account, index) => {
      const table = account === null ? undefined : decodeLookupTable(account);
      if (table !== undefined) return [table];
      const address = addresses[index]!;
      if (!warned.has(address)) warn(`Lookup table ${address} is not one that can be used, and is left out.`);
      warned.add(address);
      return [];
    });
  };
  if (addresses.length === 0) return { tables: () => tables, close() {} };
  await read();
  const timer = setInterval(() => {
    read().catch((error: unknown) => warn(`Lookup tables could not be read again: ${String(error)}`));
  }, REFRESH_MS);
  timer.unref();
  return { tables: () => tables, close: () => clearInterval(timer) };
}
