import type { AccountReader } from "../src/chain/port.ts";
import { hex } from "../src/primitives/bytes.ts";
import type { ConfigList } from "../src/venues/venue-facts.ts";
import type { VenueFolder } from "./venue-folders.ts";

/** A list in a venue's `known-configs.ts` that a node can be asked for. */
export interface VenueList extends ConfigList {
  /** The file that holds it. */
  readonly file: URL;
}

/** A list's file compared with the chain. */
export interface ListUpdate {
  readonly list: VenueList;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The file as it should be. */
  readonly source: string;
}

/** The lists that the venues' folders describe. */
export function venueLists(folders: readonly VenueFolder[]): readonly VenueList[] {
  return folders.flatMap(({ url, facts }) =>
    (facts.lists ?? []).map((list) => ({ ...list, file: new URL("known-configs.ts", url) })),
  );
}

/**
 * Compares a list with the chain. Known entries keep their place, new ones follow in the order of the venue's own indices,
 * entries that the chain no longer holds are dropped.
 *
 * @returns undefined if the node does not serve the search
 * @throws TradewireError UPSTREAM_ERROR; RangeError if the source does not hold the list, or the chain holds none of it
 */
export async function updateList(
  reader: Pick<AccountReader, "fetchProgramAccounts">,
  list: VenueList,
  source: string,
): Promise<ListUpdate | undefined> {
  const entries: { readonly value: string; readonly order: bigint }[] = [];
  for (const { discriminator, memcmp = [], entry } of list.kinds) {
    const accounts = await reader.fetchProgramAccounts({
      program: list.program,
      memcmp: [{ offset: 0, bytes: hex(discriminator) }, ...memcmp],
    });
    if (typeof accounts === "string") return undefined;
    for (const account of accounts) {
      const { value, order } = entry(account);
      entries.push({ value: String(value), order });
    }
  }
  if (entries.length === 0) throw new RangeError(`the chain holds nothing of ${list.constant}: a wrong network?`);
  const { text, values: known } = findList(list, source);
  const onChain = new Map(entries.map(({ value, order }) => [value, order]));
  if (list.shape === "count") {
    const count = String(Math.max(...[...onChain.keys()].map(Number)) + 1);
    if (count === known[0]) return { list, added: [], removed: [], source };
    const replaced = source.replace(text, text.replace(known[0]!, count));
    return { list, added: [count], removed: known, source: replaced };
  }
  const kept = known.filter((value) => onChain.has(value));
  const added = [...onChain]
    .filter(([value]) => !known.includes(value))
    .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? -1 : 1))
    .map(([value]) => value);
  const removed = known.filter((value) => !onChain.has(value));
  if (added.length + removed.length === 0) return { list, added, removed, source };
  return { list, added, removed, source: source.replace(text, write(list, [...kept, ...added])) };
}

/** The statement of a list in its file, and what it lists. */
function findList({ constant, shape, file }: VenueList, source: string): { text: string; values: string[] } {
  const pattern =
    shape === "count"
      ? new RegExp(`export const ${constant} = (\\d+);`)
      : new RegExp(`export const ${constant}: readonly \\w+\\[\\] = \\[([^\\]]*)\\];`);
  const found = pattern.exec(source);
  if (found === null) throw new RangeError(`${file.pathname} does not hold ${constant}`);
  return { text: found[0], values: found[1]!.match(/\w+/g) ?? [] };
}

const LINE_WIDTH = 120;

function write({ constant }: VenueList, values: readonly string[]): string {
  if (!values.every((value) => /^\d+$/.test(value))) {
    return `export const ${constant}: readonly string[] = [\n${values.map((value) => `  "${value}",\n`).join("")}];`;
  }
  const line = `export const ${constant}: readonly number[] = [${values.join(", ")}];`;
  if (line.length <= LINE_WIDTH) return line;
  let lines = "";
  let current = " ";
  for (const value of values) {
    if (current.length + value.length + 2 > LINE_WIDTH) {
      lines += `${current}\n`;
      current = " ";
    }
    current += ` ${value},`;
  }
  return `export const ${constant}: readonly number[] = [\n${lines}${current}\n];`;
}
