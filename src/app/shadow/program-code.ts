import { createHash } from "node:crypto";
import type { DeployedProgram } from "../../chain/port.ts";
import type { ProgramReader } from "../../chain/programs/program-reader.ts";
import type { ProgramWatch } from "../../chain/programs/program-watch.ts";
import type { Address } from "../../primitives/address.ts";
import type { AppLogger } from "../context.ts";

interface ProgramCodeOptions {
  readonly reader: ProgramReader;
  readonly watch: ProgramWatch;
  readonly logger: AppLogger;
}

/** A program's code with the build it belongs to. */
interface FetchedCode {
  readonly build: DeployedProgram;
  readonly code: Uint8Array;
}

/** Reads the code of programs, each once at a time, and logs what was read. */
export class ProgramCode {
  readonly #options: ProgramCodeOptions;
  readonly #reading = new Map<Address, Promise<FetchedCode | undefined>>();

  constructor(options: ProgramCodeOptions) {
    this.#options = options;
  }

  /** The code that runs now; undefined if it is replaced meanwhile. @throws TradewireError UPSTREAM_ERROR */
  fetch(id: Address): Promise<FetchedCode | undefined> {
    const known = this.#reading.get(id);
    if (known !== undefined) return known;
    const reading = this.#fetch(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  async #fetch(id: Address): Promise<FetchedCode | undefined> {
    const { reader, watch, logger } = this.#options;
    const build = watch.get(id);
    if (build == null) return undefined;
    const code = await reader.fetchCode(build).catch((error: Error) => {
      const reason = error.cause instanceof Error ? error.cause.message : error.message;
      logger.warn({ program: id.toString(), reason }, "shadow execution: a program's code cannot be read");
      throw error;
    });
    if (code === undefined) {
      await watch.refresh();
      return undefined;
    }
    const sha256 = createHash("sha256").update(code).digest("hex");
    const facts = { program: id.toString(), slot: Number(build.slot), bytes: code.length, sha256 };
    logger.info(facts, "shadow execution: a program was read");
    return { build, code };
  }
}
