import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../support/postgres.ts";
import { type DatabaseProxy, type Fate, startDatabaseProxy } from "./database-proxy.ts";

/** How long a fault that passes lasts: longer than an answer waits for its outcome to be written. Milliseconds. */
const LASTS_MS = 2_600;
/** How long a slow database holds a statement, at most. Milliseconds. */
const SLOW_MS = 2_400;
const DISK_FULL = "53100";

/**
 * What befalls the database at one statement, and from then on:
 *
 * - `cut`, `lose`: that connection ends before the statement is done, or after;
 * - `down`: nothing listens for a while;
 * - `slow`: it and those after it wait, for a while;
 * - `full`: nothing can be written for a while; `readOnly`: the same, on new connections;
 * - `failover`, `failoverDone`: from then on a server answers that lacks what was written since the case began; in the second,
 *   the old one has done the statement.
 */
export const DATABASE_FAULTS = ["cut", "lose", "down", "slow", "full", "readOnly", "failover", "failoverDone"] as const;
export type DatabaseFault = (typeof DATABASE_FAULTS)[number];

/** The statements about submissions that are made for one of them. As they read without quotation marks. */
const KINDS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["store signature", /^insert into submission_signatures/],
  ["claim", /^insert into submissions .*do nothing/],
  ["outcome", /^insert into submissions .*do update/],
  ["take over", /^update submissions set lease_owner/],
  ["finalize", /^update submissions set finalized_at_ms/],
  ["standing", /^select message_hash, finalized_at_ms, encode\(sha256/],
  ["signatures", /^select signature, transaction_bytes from submissions .* union/],
  ["by message", /^select \* from submissions where message_hash = /],
  ["by signature", /^select \* from submissions where message_hash in /],
];
/** Those that merely poll, renew or tidy up. */
const OTHERS = [
  /^update submissions set lease_until_ms/,
  /^select message_hash(, encode\(sha256.*)? from submissions where outcome is not null/,
  /^select \* from submissions where outcome is null/,
  /^delete from submission/,
];

/** @throws Error for a statement about submissions that is on neither list: no fault would happen at it */
function kindOf(text: string): string | undefined {
  const plain = text.replaceAll('"', "");
  const kind = KINDS.find(([, pattern]) => pattern.test(plain))?.[0];
  const isKnown =
    kind !== undefined || !/\bsubmission(s|_signatures)\b/.test(plain) || OTHERS.some((one) => one.test(plain));
  if (!isKnown) throw new Error(`Is this statement made for one submission? ${plain}`);
  return kind;
}

const isWrite = (text: string) => /^(insert|update|delete)/.test(text);

/** PostgreSQL behind a connection that fails at will, and a standby that is made before each case that needs it. */
export class FaultyDatabase {
  readonly proxy: DatabaseProxy;
  readonly #direct: URL;
  readonly #name: string;
  #current: string;
  #copies = 0;

  constructor(proxy: DatabaseProxy, directUrl: string) {
    this.proxy = proxy;
    this.#direct = new URL(directUrl);
    this.#name = this.#direct.pathname.slice(1);
    this.#current = this.#name;
  }

  /** Does the work on an empty database of a server of its own; undefined if none is installed. */
  static async with<T>(work: (database: FaultyDatabase) => Promise<T>): Promise<T | undefined> {
    const postgres = await startPostgres();
    if (postgres === undefined) return undefined;
    try {
      const directUrl = await postgres.createDatabase();
      const proxy = await startDatabaseProxy(directUrl);
      try {
        return await work(new FaultyDatabase(proxy, directUrl));
      } finally {
        await proxy.close();
      }
    } finally {
      await postgres.stop();
    }
  }

  /** Runs a query on the database as it is, past the proxy. */
  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.#ask(this.#current, text, values);
  }

  /** Has the fault happen at the n-th statement from now that is about one submission. */
  async arm(fault: DatabaseFault, nth: number): Promise<ArmedFault> {
    const isFailover = fault === "failover" || fault === "failoverDone";
    const standby = isFailover ? await this.#copy() : undefined;
    const armed = new ArmedFault(fault, nth, {
      failOver: () => {
        this.#current = standby!;
        this.proxy.failOver(standby!);
      },
      down: () => this.proxy.down(),
      up: () => this.proxy.up(),
      readOnly: async (is) => {
        const setting = `alter database ${this.#current} set default_transaction_read_only = ${is ? "on" : "off"}`;
        await this.#ask("postgres", setting);
        this.proxy.failOver(this.#current);
      },
    });
    this.proxy.onStatement = (text) => armed.fateOf(text);
    return armed;
  }

  /** A copy of the database as it is now; its connections are cut for that. */
  async #copy(): Promise<string> {
    const name = `${this.#name}_${++this.#copies}`;
    this.proxy.down();
    await this.#ask("postgres", "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      this.#current,
    ]);
    for (;;) {
      const made = await this.#ask("postgres", `create database ${name} template ${this.#current}`).catch(
        () => undefined,
      );
      if (made !== undefined) break;
      await sleep(20);
    }
    this.proxy.up();
    return name;
  }

  async #ask<R extends pg.QueryResultRow>(name: string, text: string, values: readonly unknown[] = []): Promise<R[]> {
    const url = new URL(this.#direct);
    url.pathname = `/${name}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return (await client.query<R>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }
}

interface Effects {
  readonly failOver: () => void;
  readonly down: () => void;
  readonly up: () => void;
  readonly readOnly: (is: boolean) => Promise<void>;
}

/** A fault that waits for its statement. */
export class ArmedFault {
  readonly #fault: DatabaseFault;
  readonly #nth: number;
  readonly #effects: Effects;
  #seen = 0;
  #untilMs = 0;
  readonly #over = Promise.withResolvers<void>();
  /** The kind of statement it happened at; undefined while there were too few. */
  at: string | undefined;

  constructor(fault: DatabaseFault, nth: number, effects: Effects) {
    this.#fault = fault;
    this.#nth = nth;
    this.#effects = effects;
  }

  /** Resolves once it is over; at once if it has not happened. */
  async over(): Promise<void> {
    if (this.at !== undefined) await this.#over.promise;
  }

  async fateOf(text: string): Promise<Fate> {
    const kind = kindOf(text);
    if (this.at === undefined && kind !== undefined && ++this.#seen === this.#nth) {
      this.at = kind;
      this.#untilMs = Date.now() + LASTS_MS;
      return this.#happen();
    }
    if (this.at === undefined || Date.now() > this.#untilMs) return "forward";
    if (this.#fault === "slow") await sleep(Math.min(SLOW_MS, this.#untilMs - Date.now()));
    return this.#fault === "full" && isWrite(text) ? { refuse: DISK_FULL } : "forward";
  }

  async #happen(): Promise<Fate> {
    const { failOver, down, up, readOnly } = this.#effects;
    const later = (end: () => unknown) =>
      void sleep(LASTS_MS)
        .then(end)
        .then(() => this.#over.resolve());
    const nothing = () => {};
    switch (this.#fault) {
      case "cut":
      case "lose":
        this.#over.resolve();
        return this.#fault;
      case "failover":
        this.#over.resolve();
        failOver();
        return "cut";
      case "failoverDone":
        // Once the statement is done: its connection is the last to go.
        void sleep(20)
          .then(failOver)
          .then(() => this.#over.resolve());
        return "lose";
      case "down":
        later(up);
        down();
        return "cut";
      case "readOnly":
        later(() => readOnly(false));
        await readOnly(true);
        return "cut";
      case "slow":
        later(nothing);
        await sleep(SLOW_MS);
        return "forward";
      case "full":
        later(nothing);
        return { refuse: DISK_FULL };
    }
  }
}
