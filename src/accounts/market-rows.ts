import type { Store } from "./store/store.ts";

/** A market of a subject. */
export interface MarketRow {
  readonly subject: string;
  readonly address: string;
  readonly venue: string;
  readonly mint_a: string;
  readonly mint_b: string;
  readonly found_at_ms: number;
}

/** A search that covered a subject whole. */
export interface SearchRow {
  readonly subject: string;
  /** Ids of the venues searched, with spaces between them. */
  readonly venues: string;
  readonly first_at_ms: number;
  readonly at_ms: number;
}

/** A market of a subject, or its search: that has no address. */
type FoundRow = Omit<MarketRow & SearchRow, "venue" | "found_at_ms">;

/** The statements of the index of markets, each of any number of rows. */
export interface MarketRows {
  /** The markets of the subjects, with a venue each in `venues`, and their searches. @throws TradewireError UPSTREAM_ERROR */
  find(subjects: readonly string[]): Promise<readonly FoundRow[]>;
  /** Writes markets; those that the index has, and has right, stay as they are. @throws TradewireError UPSTREAM_ERROR */
  insert(rows: readonly MarketRow[]): Promise<void>;
  /** Notes searches, one a subject. The first that brought a subject markets keeps its time. @throws TradewireError UPSTREAM_ERROR */
  noteSearched(rows: readonly SearchRow[]): Promise<void>;
  /** Removes markets from every subject. @throws TradewireError UPSTREAM_ERROR */
  remove(addresses: readonly string[]): Promise<void>;
}

/** Column types of PostgreSQL, in the order of the statements. */
const MARKET = {
  subject: "text",
  address: "text",
  venue: "text",
  mint_a: "text",
  mint_b: "text",
  found_at_ms: "bigint",
} as const satisfies Record<keyof MarketRow, string>;
const SEARCH = {
  subject: "text",
  venues: "text",
  first_at_ms: "bigint",
  at_ms: "bigint",
} as const satisfies Record<keyof SearchRow, string>;

/** A row with different facts about the market is damaged: the chain's data replaces it. */
const IF_OTHER =
  "on conflict (subject, address) do update set venue = excluded.venue, mint_a = excluded.mint_a, mint_b = excluded.mint_b " +
  "where (markets.venue, markets.mint_a, markets.mint_b) <> (excluded.venue, excluded.mint_a, excluded.mint_b)";
/** Before a subject has a market, each search of it is the first: how long its markets are known for decides on the next search. */
const OR_AGAIN =
  "on conflict (subject) do update set venues = excluded.venues, at_ms = excluded.at_ms, first_at_ms = case when exists " +
  "(select 1 from markets where markets.subject = excluded.subject and markets.found_at_ms < excluded.first_at_ms) " +
  "then market_searches.first_at_ms else excluded.first_at_ms end";

/** @param listed makes the SQL condition on the subject, from the number of its parameter */
const finding = (listed: (parameter: number) => string) =>
  `select subject, venue as venues, address, mint_a, mint_b, 0 as first_at_ms, 0 as at_ms from markets where subject ${listed(1)} ` +
  `union all select subject, venues, '', '', '', first_at_ms, at_ms from market_searches where subject ${listed(2)}`;

/** The SQL text is made once and bypasses Kysely, which would double the time of such a query. */
export function createMarketRows(store: Store): MarketRows {
  return store.isEmbedded ? embeddedRows(store) : serverRows(store);
}

/** Lists go to SQLite as JSON: one text for lists of any length. */
function embeddedRows(store: Store): MarketRows {
  const listed = () => "in (select value from json_each(?))";
  const into = <Row>(table: string, columns: Readonly<Record<keyof Row & string, string>>, suffix: string) => {
    const names = Object.keys(columns) as (keyof Row & string)[];
    const values = names.map((_, i) => `value ->> ${i}`).join(", ");
    // Without "where", SQLite would read the conflict's "on" as that of a join.
    const sql = `insert into ${table} (${names.join(", ")}) select ${values} from json_each(?) where true ${suffix}`;
    return async (rows: readonly Row[]) => {
      await store.write(sql, [JSON.stringify(rows.map((row) => names.map((name) => row[name])))]);
    };
  };
  const find = finding(listed);
  const remove = `delete from markets where address ${listed()}`;
  return {
    find(subjects) {
      const asked = JSON.stringify(subjects);
      return store.query<FoundRow>(find, [asked, asked]);
    },
    insert: into<MarketRow>("markets", MARKET, IF_OTHER),
    noteSearched: into<SearchRow>("market_searches", SEARCH, OR_AGAIN),
    async remove(addresses) {
      await store.write(remove, [JSON.stringify(addresses)]);
    },
  };
}

/** Lists go to PostgreSQL as arrays. */
function serverRows(store: Store): MarketRows {
  const listed = (parameter: number) => `= any($${parameter})`;
  const into = <Row>(table: string, columns: Readonly<Record<keyof Row & string, string>>, suffix: string) => {
    const names = Object.keys(columns) as (keyof Row & string)[];
    const arrays = names.map((name, i) => `$${i + 1}::${columns[name]}[]`).join(", ");
    // In order: two processes that write the same rows wait for each other in one direction only.
    const sql = `insert into ${table} (${names.join(", ")}) select * from unnest(${arrays}) order by 1, 2 ${suffix}`;
    return async (rows: readonly Row[]) => {
      await store.write(
        sql,
        names.map((name) => rows.map((row) => row[name])),
      );
    };
  };
  const find = finding(listed);
  const remove = `delete from markets where address ${listed(1)}`;
  return {
    find: (subjects) => store.query<FoundRow>(find, [subjects, subjects]),
    insert: into<MarketRow>("markets", MARKET, IF_OTHER),
    noteSearched: into<SearchRow>("market_searches", SEARCH, OR_AGAIN),
    async remove(addresses) {
      await store.write(remove, [addresses]);
    },
  };
}
