import { createHash } from "node:crypto";
import type { DeployedProgram } from "../../chain/port.ts";
import type { ProgramReader } from "../../chain/programs/program-reader.ts";
import type { ProgramWatch } from "../../chain/programs/program-watch.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { AppLogger } from "../context.ts";

interface ProgramCodeOptions {
  readonly reader: Pick<ProgramReader, "fetchCode">;
  readonly watch: Pick<ProgramWatch, "get" | "refresh">;
  readonly logger: Pick<AppLogger, "info" | "warn">;
  readonly now: Now;
}

/** A program's code with the build it belongs to. */
interface FetchedCode {
  readonly build: DeployedProgram;
  readonly code: Uint8Array;
}

/** How long nodes may show another deployment than the one followed before the log says so: longer than a node lags. Milliseconds. */
const PATIENCE_MS = 10_000;
/** Pause between two such lines about one program. Milliseconds. */
const REPEAT_WARNING_MS = 600_000;

/** Since when nodes have shown another deployment than the one at this slot, and when the log may say so. */
interface Division {
  readonly slot: bigint;
  sayAtMs: number;
}

/** Reads the code of programs, each once at a time, and logs what was read. */
export class ProgramCode {
  readonly #options: ProgramCodeOptions;
  readonly #reading = new Map<Address, Promise<FetchedCode | undefined>>();
  readonly #divided = new Map<Address, Division>();

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
      this.#noteDivided(build);
      return undefined;
    }
    this.#divided.delete(id);
    const sha256 = createHash("sha256").update(code).digest("hex");
    const facts = { program: id.toString(), slot: Number(build.slot), bytes: code.length, sha256 };
    logger.info(facts, "shadow execution: a program was read");
    return { build, code };
  }

  /** Some node shows another deployment, or none, and no two others the same code: a node that lags does so for a moment only. */
  #noteDivided({ id, slot }: DeployedProgram): void {
    const { now, logger } = this.#options;
    let division = this.#divided.get(id);
    if (division?.slot !== slot) {
      division = { slot, sayAtMs: now() + PATIENCE_MS };
      this.#divided.set(id, division);
    }
    if (now() < division.sayAtMs) return;
    division.sayAtMs = now() + REPEAT_WARNING_MS;
    const reason = `a Solana node shows another deployment than that of slot ${slot}, or none, and no two others show its code`;
    logger.warn({ program: id.toString(), reason }, "shadow execution: a program's code cannot be read");
  }
}
