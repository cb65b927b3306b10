import type { Random } from "../../../../src/primitives/random.ts";
import { createMemorySubmissions, type MemorySubmissions } from "../../../support/memory-submissions.ts";

/** Writes that a standby may lack as it takes over: those of this long. Milliseconds. */
const MOST_BEHIND_MS = 1_200;
/** For how long a process uses the old primary after a failover. Milliseconds. */
const APART_MS = [0, 0, 0, 1_500, 6_000, 20_000, 45_000] as const;
/** By how much the clocks of two servers differ. Milliseconds. */
const CLOCKS_MS = [0, 0, 40, -40, 2_000, -2_000, 600_000, -600_000] as const;

/** The servers that one process uses. */
interface Connection {
  server: MemorySubmissions;
  leavesAtMs: number;
  /** True if some of its connections reach the old primary until it leaves that, and others the new one. */
  isDivided: boolean;
}

/** The way of one process to the database. */
export interface DatabaseRoute {
  /** The server that the next statement reaches. */
  server(): MemorySubmissions;
  /** True if a connection to this server has been cut since. */
  isCut(server: MemorySubmissions): boolean;
}

/** A database with asynchronous replication: the standby that takes over lacks what was written last, and the old primary goes on serving. */
export class ReplicatedDatabase {
  readonly random: Random;
  readonly #connections = new Set<Connection>();
  /** What the standby has had since a moment (epoch milliseconds), oldest first. */
  #standby: { readonly atMs: number; readonly restore: (into: MemorySubmissions) => void }[] = [];
  #aheadMs = 0;
  #primary = this.#server(0);
  /** When the last process leaves the old primary. Epoch milliseconds. */
  leftAtMs = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.random = random;
  }

  get primary(): MemorySubmissions {
    return this.#primary;
  }

  /** Sends the standby what the primary has; to be called often. */
  replicate(): void {
    const atMs = Date.now();
    this.#standby.push({ atMs, restore: this.#primary.copy() });
    while (this.#standby.length > 1 && this.#standby[1]!.atMs <= atMs - MOST_BEHIND_MS) this.#standby.shift();
  }

  /** The standby becomes the primary; each process learns of it at a time of its own. @returns by how much the standby was behind (milliseconds) */
  failOver(): number {
    const behind = this.random.pick(this.#standby);
    this.#aheadMs += this.random.pick(CLOCKS_MS);
    this.#primary = this.#server(this.#aheadMs);
    behind.restore(this.#primary);
    this.#standby = [];
    this.leftAtMs = Date.now();
    for (const connection of this.#connections) {
      connection.isDivided = this.random.chance(0.3);
      connection.leavesAtMs = Date.now() + this.random.pick(APART_MS);
      this.leftAtMs = Math.max(this.leftAtMs, connection.leavesAtMs);
    }
    this.replicate();
    return Date.now() - behind.atMs;
  }

  /** Another process begins to use the database. */
  connect(): DatabaseRoute {
    const connection: Connection = { server: this.#primary, leavesAtMs: 0, isDivided: false };
    this.#connections.add(connection);
    return {
      server: () => {
        if (Date.now() >= connection.leavesAtMs) connection.server = this.#primary;
        return connection.isDivided && this.random.chance(0.5) ? this.#primary : connection.server;
      },
      isCut: (server) => server !== this.#primary && Date.now() >= connection.leavesAtMs,
    };
  }

  #server(aheadMs: number): MemorySubmissions {
    return createMemorySubmissions(() => Date.now() + aheadMs);
  }
}
