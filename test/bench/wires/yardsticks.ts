import { fileURLToPath } from "node:url";
import { BenchChild } from "../child.ts";
import { measureCalls } from "./measured-calls.ts";
import type { WireName } from "./wire-requests.ts";

/** Asks a bare server what it has used so far. */
export interface BareQuestion {
  /** Of each answer from now on. As before, if it is absent. */
  readonly answerBytes?: number;
}

interface BareServer {
  readonly child: BenchChild;
  readonly port: number;
}

/** Two processes of the same bare server: what one takes is up to a third more or less than another, from start to end. */
export class Yardstick {
  readonly #servers: readonly BareServer[];
  /** How its calls are sent. */
  readonly #wire: WireName;

  private constructor(servers: readonly BareServer[], wire: WireName) {
    this.#servers = servers;
    this.#wire = wire;
  }

  static async start(file: string, wire: WireName): Promise<Yardstick> {
    const servers: BareServer[] = [];
    for (let index = 0; index < 2; index++) {
      const child = new BenchChild(fileURLToPath(new URL(file, import.meta.url)), process.cwd());
      servers.push({ child, ...(await child.next<{ readonly port: number }>()) });
    }
    return new Yardstick(servers, wire);
  }

  /** Processor time of a call to one of the two. Microseconds. @param which its lowest bit says which of them */
  async measure(callers: BenchChild, which: number, calls: number, answerBytes: number): Promise<number> {
    const server = this.#servers[which & 1]!;
    await server.child.ask({ answerBytes } satisfies BareQuestion);
    return (await measureCalls(callers, server, { wire: this.#wire, calls })).micros;
  }

  close(): void {
    for (const { child } of this.#servers) child.close();
  }
}
