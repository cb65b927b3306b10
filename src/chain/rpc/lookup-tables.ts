import type { Address } from "../../primitives/address.ts";
import { decodeLookupTable } from "../../solana/lookup-table.ts";
import type { LookupTable } from "../../solana/message.ts";
import type { AccountReader } from "../port.ts";

/** The operator's lookup tables as they stand on the chain. */
interface LiveLookupTables {
  /** From memory. */
  tables(): readonly LookupTable[];
  close(): void;
}

interface LookupTablesOptions {
  readonly reader: AccountReader;
  readonly addresses: readonly Address[];
  readonly warn: (message: string) => void;
}

/** Tables only grow, and new entries are not needed at once. Milliseconds. */
const REFRESH_MS = 60_000;

/**
 * Reads the tables, and again every minute. An unusable table is left out, with one warning.
 * @throws TradewireError UPSTREAM_ERROR if the first read fails
 */
export async function createLookupTables(options: LookupTablesOptions): Promise<LiveLookupTables> {
  const tables = new PolledLookupTables(options);
  await tables.start();
  return tables;
}

class PolledLookupTables implements LiveLookupTables {
  readonly #options: LookupTablesOptions;
  readonly #warned = new Set<Address>();
  #tables: readonly LookupTable[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LookupTablesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { addresses, warn } = this.#options;
    if (addresses.length === 0) return;
    await this.#read();
    this.#timer = setInterval(() => {
      this.#read().catch((error: unknown) => warn(`Cannot refresh the lookup tables: ${String(error)}`));
    }, REFRESH_MS);
    this.#timer.unref();
  }

  tables(): readonly LookupTable[] {
    return this.#tables;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const { reader, addresses } = this.#options;
    const { accounts } = await reader.fetchAccounts(addresses);
    this.#tables = accounts.flatMap((account, index) => {
      const table = account === null ? undefined : decodeLookupTable(account);
      if (table !== undefined) return [table];
      this.#warnOnce(addresses[index]!);
      return [];
    });
  }

  #warnOnce(address: Address): void {
    if (this.#warned.has(address)) return;
    this.#warned.add(address);
    this.#options.warn(`The account ${address} is not a usable lookup table and is left out.`);
  }
}
