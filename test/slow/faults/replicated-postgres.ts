import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import pg from "pg";
import { initialize, installedServer, type PostgresServer, startPostgresServer } from "../../support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** A PostgreSQL primary and a standby that follows it by asynchronous streaming replication. */
export class ReplicatedPostgres {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly #replication: TcpProxy;

  private constructor(primary: PostgresServer, standby: PostgresServer, replication: TcpProxy) {
    this.primary = primary;
    this.standby = standby;
    this.#replication = replication;
  }

  /** Undefined if no PostgreSQL is installed here. */
  static async start(): Promise<ReplicatedPostgres | undefined> {
    const programs = installedServer();
    if (programs === undefined) return undefined;
    const primary = await startPostgresServer(programs, (data, user) => initialize(data, programs, user));
    const replication = await startTcpProxy(primary.port);
    const standby = await startPostgresServer(programs, (data, user) => {
      const from = ["-h", "127.0.0.1", "-p", `${primary.port}`, "-U", "postgres"];
      const options = { ...user, cwd: resolve(data, ".."), stdio: "ignore" } as const;
      execFileSync(join(programs, "pg_basebackup"), [...from, "-D", data, "-c", "fast", "-X", "stream", "-R"], options);
      const source = `primary_conninfo = 'host=127.0.0.1 port=${replication.port} user=postgres'\n`;
      execFileSync("sh", ["-c", `printf %s "$0" >> ${data}/postgresql.auto.conf`, source], options);
    });
    return new ReplicatedPostgres(primary, standby, replication);
  }

  /** From now on the standby receives nothing. */
  async cutReplication(): Promise<void> {
    await this.#replication.down();
  }

  /** Makes a second primary of the standby. */
  async promote(): Promise<void> {
    await ask(this.standby.url, "select pg_promote(true, 30)");
  }

  async stop(): Promise<void> {
    await this.#replication.close();
    await Promise.all([this.primary.stop(), this.standby.stop()]);
  }
}

/** Rows of a statement. */
export async function ask<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}
