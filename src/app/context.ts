import type { Config } from "../config/settings.ts";
import type { Now } from "../primitives/clock.ts";
import type { OtherWorkers } from "./other-workers.ts";
import type { OwnProcess } from "./report/process-gauges.ts";

/** Where the service reports. A pino logger is one. */
export interface AppLogger {
  debug?(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What every part of the service is built with. */
export interface AppContext {
  readonly config: Config;
  readonly logger: AppLogger;
  /** The wall clock, for times that others see or set. Milliseconds since 1970. */
  readonly wallMs: Now;
  /** Measures ages and pauses: unlike the wall clock, it cannot be set back. */
  readonly steadyMs: Now;
  /** Spreads retries; 0 ≤ value < 1. Never for secrets. */
  readonly random: () => number;
  /** Logs a warning without facts. */
  readonly warn: (message: string) => void;
  /** Called once if the nodes now serve another chain. */
  readonly onForeignChain?: ((message: string) => void) | undefined;
  /** Whose metrics are reported; undefined: nobody's. */
  readonly own?: OwnProcess | undefined;
  /** Undefined if no other process shares its port. */
  readonly otherWorkers?: OtherWorkers | undefined;
  readonly closers: Closers;
}

/** What is open, to be closed in the reverse order. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  /** Adds what is to be called on close. */
  add(close: () => unknown): void {
    this.#closers.unshift(close);
  }

  /** Adds a part that has a `close` of its own, and returns it. */
  keep<T extends { close(): unknown }>(part: T): T {
    this.add(() => part.close());
    return part;
  }

  /**
   * Closes everything, newest first; what fails to close keeps nothing else open. A second call does nothing.
   * @throws the first error of a part that failed to close, once all are closed
   */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0)) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
