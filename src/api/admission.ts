import { TradewireError } from "../errors/tradewire-error.ts";
import type { CallKind } from "./rate-limits.ts";
import type { AdmissionSettings } from "./settings.ts";

const RETRY_AFTER_MS = 1_000;

/** Builds that every turn has room for, so that a pause of the whole process is not taken for overload. */
const LEAST_PER_TURN = 8;

/**
 * Refuses work while there is more of it than can be done in time, builds long before submits: a build that is refused can
 * be asked for again, a signed transaction runs out.
 *
 * Builds that are ready run one after another and keep everything else waiting. They share one turn of the event loop's
 * time; those that come after it is used up are refused at once, which costs a fraction of a build.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #nowMs: () => number;
  #builds = 0;
  #submits = 0;
  #shed = 0;
  #turnStartMs: number | undefined;
  #turnBuilds = 0;

  /** @param nowMs a monotonic clock */
  constructor(settings: AdmissionSettings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
  }

  /** Lets a call in; `leave` must follow when it has ended. @throws TradewireError OVERLOADED */
  enter(kind: CallKind): void {
    if (kind === "submit") {
      if (this.#submits >= this.#settings.submitsAtOnce) throw this.#overloaded("Too many submits are under way.");
      this.#submits++;
    } else if (kind === "build") {
      if (this.#builds >= this.#settings.buildsAtOnce) throw this.#overloaded("Too many builds are under way.");
      const nowMs = this.#nowMs();
      if (this.#turnStartMs === undefined) {
        this.#turnStartMs = nowMs;
        this.#turnBuilds = 0;
        setImmediate(() => {
          this.#turnStartMs = undefined;
        });
      } else if (this.#turnBuilds >= LEAST_PER_TURN && nowMs - this.#turnStartMs > this.#settings.buildTurnMs) {
        throw this.#overloaded("More builds are asked for than can be made in time.");
      }
      this.#turnBuilds++;
      this.#builds++;
    }
  }

  leave(kind: CallKind): void {
    if (kind === "submit") this.#submits--;
    else if (kind === "build") this.#builds--;
  }

  /** For metrics. */
  state(): { readonly builds: number; readonly submits: number; readonly shed: number } {
    return { builds: this.#builds, submits: this.#submits, shed: this.#shed };
  }

  #overloaded(reason: string): TradewireError {
    this.#shed++;
    return new TradewireError("OVERLOADED", `${reason} Wait as Retry-After says.`, { retryAfterMs: RETRY_AFTER_MS });
  }
}
