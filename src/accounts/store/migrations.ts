import { type ColumnDataType, type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type { Database } from "./schema.ts";

/** Whole milliseconds, counters and block heights: 64 bits in both databases. */
const INTEGER: ColumnDataType = "bigint";
/** PostgreSQL's name for bytes. SQLite takes any type name and keeps bytes as they are. */
const BYTES: ColumnDataType = "bytea";
/** Where the migrator notes what has run. */
const TABLE = "kysely_migration";

/**
 * In order of their names. A migration that has shipped is never edited; a change is a new one at the end. An index of a
 * table that may be large is none of them: see `large-indexes.ts`.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-accounts": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("accounts")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("wallet", "text", (column) => column.notNull().unique())
        .addColumn("created_at_ms", INTEGER, (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("api_keys")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
        .addColumn("hash", BYTES, (column) => column.notNull())
        .addColumn("label", "text", (column) => column.notNull())
        .addColumn("created_at_ms", INTEGER, (column) => column.notNull())
        .addColumn("revoked_at_ms", INTEGER)
        .execute();
      await db.schema.createIndex("api_keys_by_account").on("api_keys").column("account_id").execute();
      await db.schema
        .createTable("revocation_count")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("count", INTEGER, (column) => column.notNull())
        .execute();
      await sql`insert into revocation_count (id, count) values (1, 0)`.execute(db);
      await db.schema
        .createTable("challenges")
        .addColumn("message_hash", "text", (column) => column.primaryKey())
        .addColumn("wallet", "text", (column) => column.notNull())
        .addColumn("expires_at_ms", INTEGER, (column) => column.notNull())
        .addColumn("used_at_ms", INTEGER)
        .execute();
      await db.schema.createIndex("challenges_by_expiry").on("challenges").column("expires_at_ms").execute();
    },
  },
  "0002-submissions": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("submissions")
        .addColumn("message_hash", "text", (column) => column.primaryKey())
        .addColumn("signature", "text", (column) => column.notNull())
        .addColumn("account_id", "text", (column) => column.notNull())
        .addColumn("submission_token", "text", (column) => column.notNull())
        .addColumn("transaction_bytes", BYTES, (column) => column.notNull())
        .addColumn("last_valid_block_height", INTEGER, (column) => column.notNull())
        .addColumn("claimed_at_ms", INTEGER, (column) => column.notNull())
        .addColumn("lease_owner", "text", (column) => column.notNull())
        .addColumn("lease_until_ms", INTEGER, (column) => column.notNull())
        .addColumn("outcome", "text")
        .addColumn("finished_at_ms", INTEGER)
        .execute();
      await db.schema.createIndex("submissions_by_signature").on("submissions").column("signature").execute();
      await db.schema.createIndex("submissions_by_finish").on("submissions").column("finished_at_ms").execute();
    },
  },
  "0003-abandoned-submissions": {
    async up(db: Kysely<unknown>) {
      await sql`create index submissions_undecided on submissions (lease_until_ms) where outcome is null`.execute(db);
    },
  },
  "0004-limit-usage": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("limit_usage")
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("calls", INTEGER, (column) => column.notNull())
        .addColumn("at_ms", INTEGER, (column) => column.notNull())
        .addPrimaryKeyConstraint("limit_usage_key", ["owner", "name"])
        .execute();
    },
  },
  "0005-finality": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("submissions").addColumn("finalized_at_ms", INTEGER).execute();
    },
  },
  "0006-pepper-mark": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("pepper_mark")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("mark", "text", (column) => column.notNull())
        .execute();
    },
  },
  "0007-keys-by-revocation": {
    async up(db: Kysely<unknown>) {
      // Finds an account's live keys and those revoked last, however many were revoked before.
      const columns = ["account_id", "revoked_at_ms"];
      await db.schema.createIndex("api_keys_by_revocation").on("api_keys").columns(columns).execute();
      await db.schema.dropIndex("api_keys_by_account").execute();
    },
  },
  "0008-submission-signatures": {
    async up(db: Kysely<unknown>) {
      // One message may be signed several times; the chain executes it under any of its signatures.
      await db.schema
        .createTable("submission_signatures")
        .addColumn("signature", "text", (column) => column.primaryKey())
        .addColumn("message_hash", "text", (column) => column.notNull())
        .addColumn("transaction_bytes", BYTES, (column) => column.notNull())
        .addColumn("stored_at_ms", INTEGER, (column) => column.notNull())
        .execute();
      const table = "submission_signatures";
      await db.schema.createIndex("submission_signatures_by_message").on(table).column("message_hash").execute();
      await db.schema.createIndex("submission_signatures_by_age").on(table).column("stored_at_ms").execute();
    },
  },
  "0009-submissions-by-account": {
    async up(db: Kysely<unknown>) {
      const columns = ["account_id", "claimed_at_ms", "message_hash"];
      await db.schema.createIndex("submissions_by_account").on("submissions").columns(columns).execute();
    },
  },
  "0010-markets": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("markets")
        .addColumn("subject", "text", (column) => column.notNull())
        .addColumn("address", "text", (column) => column.notNull())
        .addColumn("venue", "text", (column) => column.notNull())
        .addColumn("mint_a", "text", (column) => column.notNull())
        .addColumn("mint_b", "text", (column) => column.notNull())
        .addColumn("found_at_ms", INTEGER, (column) => column.notNull())
        .addPrimaryKeyConstraint("markets_key", ["subject", "address"])
        .execute();
      await db.schema.createIndex("markets_by_address").on("markets").column("address").execute();
      await db.schema
        .createTable("market_searches")
        .addColumn("subject", "text", (column) => column.primaryKey())
        .addColumn("venues", "text", (column) => column.notNull())
        .addColumn("first_at_ms", INTEGER, (column) => column.notNull())
        .addColumn("at_ms", INTEGER, (column) => column.notNull())
        .execute();
    },
  },
  "0011-key-use": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("api_keys").addColumn("used_at_ms", INTEGER).execute();
      await db.schema.createIndex("api_keys_by_use").on("api_keys").column("used_at_ms").execute();
    },
  },
  "0012-few-of-many": {
    // What this migration made is in `large-indexes.ts`: in a transaction it held up writes.
    async up() {},
  },
};

/**
 * Brings the database to the newest schema; several processes may start at once. One that is at it already is only read: it takes
 * no lock that another session may hold.
 *
 * @param schema where the connection's tables are created; undefined for databases without schemas
 * @throws Error from the database, or if a later version has changed the schema
 */
export async function migrate(db: Database, schema?: string): Promise<void> {
  if (await isMigrated(db, schema)) return;
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...MIGRATIONS }) },
    // The order of past migrations is known only by their times, which several machines' clocks have written.
    allowUnorderedMigrations: true,
    // Without it, the migrator takes tables of its name in any other schema for its own.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  const { error } = await migrator.migrateToLatest();
  // Another version may have come first.
  if (error !== undefined && !(await isMigrated(db, schema))) throw error;
}

/** @throws Error if a migration has run that is unknown to this version */
async function isMigrated(db: Database, schema: string | undefined): Promise<boolean> {
  const table = schema === undefined ? sql.id(TABLE) : sql.id(schema, TABLE);
  const { rows } = await sql<{ name: string }>`select name from ${table} order by name desc`
    .execute(db)
    .catch(() => ({ rows: [] }));
  const done = rows.map(({ name }) => name);
  const later = done.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (later !== undefined)
    throw new Error(`A later version of this service has changed the schema (${later}). Start that version.`);
  return Object.keys(MIGRATIONS).every((name) => done.includes(name));
}

/**
 * The PostgreSQL schema that unqualified names of this connection are created in.
 * @throws Error from the database, or if its search_path names no schema that exists
 */
export async function currentSchema(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name;
  if (name) return name;
  throw new Error("The search_path of this database connection names no schema that exists. Create it first.");
}
