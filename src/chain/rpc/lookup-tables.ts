import type { Address } from "../../primitives/address.ts";
import { decodeLookupTable } from "../../solana/lookup-table.ts";
import type { LookupTable } from "../../solana/message.ts";
import type { AccountReader } from "../port.ts";
import { saidMost } from "./said-most.ts";

/** The operator's lookup tables as they stand on the chain. */
interface LiveLookupTables {
  /** From memory. */
  tables(): readonly LookupTable[];
  close(): void;
}

/** One node by itself. */
interface TableNode {
  /** True for the node whose word decides a contradiction. */
  readonly isTrusted?: boolean | undefined;
  readonly reader: Pick<AccountReader, "fetchAccounts">;
}

interface LookupTablesOptions {
  /** Every node. */
  readonly nodes: readonly TableNode[];
  readonly addresses: readonly Address[];
  readonly warn: (message: string) => void;
}

/** Pause between reads: tables only grow, and new entries are not needed at once. Milliseconds. */
const REFRESH_MS = 60_000;

/** Nodes that must agree on an entry, if that many answer. */
const QUORUM = 2;

/**
 * Reads the tables from every node, and again every minute. A table is used up to the last entry on which two nodes agree, in order: a node
 * that swapped two entries would make every transaction name the wrong accounts. Entries never change: while only one node answers, known
 * ones stay, and new ones can wait; those that two nodes agreed on before stay for as long as one of them still has them. An unusable
 * table is left out, with one warning.
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
  /** By table, the entries that two nodes agreed on. */
  readonly #proven = new Map<Address, readonly Address[]>();
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
    const { nodes, addresses } = this.#options;
    const settled = await Promise.allSettled(nodes.map((node) => this.#readFrom(node)));
    const said = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (said.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
    const trusted = settled[nodes.findIndex(({ isTrusted }) => isTrusted === true)];
    const words = trusted?.status === "fulfilled" ? [trusted.value] : said;
    const isAlone = words === said && said.length === 1 && nodes.length > 1;
    this.#tables = addresses.flatMap((address, i) => {
      const known = isAlone ? this.#tables.find((table) => table.address === address) : undefined;
      const ofNodes = words.map((tables) => tables[i]);
      const table = known !== undefined && ofNodes[0] !== undefined ? known : this.#agreed(address, ofNodes);
      if (table === undefined)
        this.#warnOnce(address, `The account ${address} is not a usable lookup table and is left out.`);
      return table ?? [];
    });
  }

  async #readFrom({ reader }: TableNode): Promise<readonly (LookupTable | undefined)[]> {
    const { accounts } = await reader.fetchAccounts(this.#options.addresses);
    return accounts.map((account) => (account === null ? undefined : decodeLookupTable(account)));
  }

  /** The table as far as two nodes agree on it, or agreed and one still says so; undefined if fewer have it. */
  #agreed(address: Address, words: readonly (LookupTable | undefined)[]): LookupTable | undefined {
    let agreeing = words.filter((word) => word !== undefined);
    const required = Math.min(QUORUM, words.length);
    if (agreeing.length < required) return undefined;
    const proven = this.#proven.get(address) ?? [];
    const entries: Address[] = [];
    for (;;) {
      const longer = agreeing.filter((word) => word.entries.length > entries.length);
      const saying = (entry: Address | undefined) => longer.filter((word) => word.entries[entries.length] === entry);
      const [first, ...others] = saidMost(longer, (word) => word.entries[entries.length]!.toString());
      const most = first?.entries[entries.length];
      if (saying(most).length < longer.length)
        this.#warnOnce(
          address,
          `The Solana nodes contradict each other about the lookup table ${address}: it is used as far as two agree.`,
        );
      const isAgreed = others.length === 0 && saying(most).length >= required;
      const entry = isAgreed ? most : proven[entries.length];
      const alike = saying(entry);
      if (entry === undefined || alike.length === 0) break;
      entries.push(entry);
      agreeing = alike;
    }
    if (required === QUORUM) this.#proven.set(address, entries);
    return { address, entries };
  }

  #warnOnce(address: Address, line: string): void {
    if (this.#warned.has(address)) return;
    this.#warned.add(address);
    this.#options.warn(line);
  }
}
