import type { Random } from "../../../../src/primitives/random.ts";
import { createMemorySubmissions, type MemorySubmissions } from "../../../support/memory-submissions.ts";

/** Writes that a standby may lack as it takes over: those of this long. Milliseconds. */
const MOST_BEHIND_MS = 1_200;
/** For how long a process uses the old primary after a failover. Milliseconds. */
const APART_MS = [0, 0, 0, 1_500, 6_000, 20_000, 45_000] as const;
/** By how much the clocks of two servers differ. Milliseconds. */
const CLOCKS_MS = [0, 0, 40, -40, 2_000, -2_000, 600_000, -600_000] as const;

/** The server that one process takes for the primary. */
interface Connection {
  server: MemorySubmissions;
  leavesAtMs: number;
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
      connection.leavesAtMs = Date.now() + this.random.pick(APART_MS);
      this.leftAtMs = Math.max(this.leftAtMs, connection.leavesAtMs);
    }
    this.replicate();
    return Date.now() - behind.atMs;
  }

  /** The way of one process to the server that it takes for the primary. */
  connect(): () => MemorySubmissions {
    const connection: Connection = { server: this.#primary, leavesAtMs: 0 };
    this.#connections.add(connection);
    return () => {
      if (Date.now() >= connection.leavesAtMs) connection.server = this.#primary;
      return connection.server;
    };
  }

  #server(aheadMs: number): MemorySubmissions {
    return createMemorySubmissions(() => Date.now() + aheadMs);
  }
}
