import type { AccountReader } from "../src/chain/port.ts";
import type { Address } from "../src/primitives/address.ts";
import { hex, readU64, viewOf } from "../src/primitives/bytes.ts";
import type { Account } from "../src/solana/account.ts";
import { DAMM_V1_PROGRAM } from "../src/venues/meteora-damm-v1/layout.ts";
import { DAMM_V2_PROGRAM } from "../src/venues/meteora-damm-v2/layout.ts";
import { DLMM_PROGRAM } from "../src/venues/meteora-dlmm/layout.ts";
import { WHIRLPOOL_PROGRAM, WHIRLPOOLS_CONFIG } from "../src/venues/orca-whirlpool/layout.ts";
import { CLMM_PROGRAM } from "../src/venues/raydium-clmm/layout.ts";
import { CPMM_PROGRAM } from "../src/venues/raydium-cpmm/layout.ts";

/** Accounts that fill a list: those of a program with these bytes at these places. */
interface Kind {
  readonly discriminator: string;
  readonly memcmp?: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** What of the account goes into the list, and where it stands there. */
  readonly entry: (account: Account) => { readonly value: string | number; readonly order: bigint };
}

/** One list of `src/venues/data`, and where the chain keeps it. */
export interface VenueList {
  /** File under `src/venues/data`. */
  readonly file: string;
  readonly constant: string;
  /** `count`: one number, one more than the largest index. */
  readonly shape: "list" | "count";
  readonly program: Address;
  readonly kinds: readonly Kind[];
}

/** What the chain says of a list, beside what its file says. */
export interface ListUpdate {
  readonly list: VenueList;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The file as it should be. */
  readonly source: string;
}

const NOBODY = new Uint8Array(32);

const u16 =
  (offset: number): Kind["entry"] =>
  ({ data }) => {
    const value = viewOf(data).getUint16(offset, true);
    return { value, order: BigInt(value) };
  };

/** Every list that a node can be asked for. */
export const VENUE_LISTS: readonly VenueList[] = [
  {
    file: "raydium-cpmm.ts",
    constant: "CPMM_CONFIG_INDICES",
    shape: "list",
    program: CPMM_PROGRAM,
    kinds: [{ discriminator: "daf42168cbcb2b6f", entry: u16(10) }],
  },
  {
    file: "raydium-clmm.ts",
    constant: "CLMM_CONFIG_INDICES",
    shape: "list",
    program: CLMM_PROGRAM,
    kinds: [{ discriminator: "daf42168cbcb2b6f", entry: u16(9) }],
  },
  {
    file: "orca-whirlpool.ts",
    constant: "WHIRLPOOL_FEE_TIERS",
    shape: "list",
    program: WHIRLPOOL_PROGRAM,
    // Ordinary tiers, and those whose fee follows volatility: both name their index after the configuration.
    kinds: ["384b9f4c8e44be69", "931090742f92952e"].map((discriminator) => ({
      discriminator,
      memcmp: [{ offset: 8, bytes: WHIRLPOOLS_CONFIG.bytes }],
      entry: u16(40),
    })),
  },
  {
    file: "meteora-dlmm.ts",
    constant: "DLMM_PRESET_COUNT",
    shape: "count",
    program: DLMM_PROGRAM,
    kinds: [{ discriminator: "abec9473a271deae", entry: u16(28) }],
  },
  {
    file: "meteora-damm-v1.ts",
    constant: "DAMM_V1_CONFIGS",
    shape: "list",
    program: DAMM_V1_PROGRAM,
    // Only those under which anybody may make a pool.
    kinds: [
      {
        discriminator: "9b0caae01efacc82",
        memcmp: [{ offset: 80, bytes: NOBODY }],
        entry: ({ address }) => ({ value: address.toString(), order: 0n }),
      },
    ],
  },
  {
    file: "meteora-damm-v2.ts",
    constant: "DAMM_V2_PUBLIC_CONFIGS",
    shape: "list",
    program: DAMM_V2_PROGRAM,
    kinds: [
      {
        discriminator: "9b0caae01efacc82",
        memcmp: [{ offset: 40, bytes: NOBODY }],
        entry: ({ address, data }) => ({ value: address.toString(), order: readU64(data, 208) }),
      },
    ],
  },
];

/**
 * Compares a list with the chain. What is known keeps its place, what is new comes after it in the order of the venue's own
 * indices, what is gone goes.
 *
 * @returns undefined when the node does not serve the search
 * @throws TradewireError UPSTREAM_ERROR; RangeError when the source does not hold the list, or the chain holds none of it
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
    if (accounts === "refused") return undefined;
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
  if (found === null) throw new RangeError(`${file} does not hold ${constant}`);
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
