import { Address } from "../../primitives/address.ts";
import type { Venue } from "../../venues/venue.ts";
import type { ShadowAnswer, ShadowOrder } from "../protocol.ts";
import { checkMarket, UnloadableProgram } from "./check-market.ts";
import { type LoadedProgram, ShadowSvm } from "./shadow-svm.ts";

interface EngineOptions {
  readonly venues: readonly Venue[];
  /** Processor time that this process has used. Milliseconds. */
  readonly cpuMs: () => number;
  /** A clock that never goes back. Milliseconds. */
  readonly nowMs: () => number;
  /** Processor time that routine checks may take. Percent of one core. */
  readonly cpuPercent: number;
}

/** Over this time the budget is kept. Milliseconds. */
const BUDGET_WINDOW_MS = 10_000;

/** What the shadow process does: keeps the programs of the chain loaded, and checks markets on them. */
export class ShadowEngine {
  readonly #options: EngineOptions;
  readonly #programs = new Map<Address, LoadedProgram>();
  /** Programs whose present build cannot be loaded, and why. */
  readonly #unloadable = new Map<Address, string>();
  #features: readonly Uint8Array[] | undefined;
  #svm: ShadowSvm | undefined;
  /** Processor time that routine checks may still take; refilled as time passes. Milliseconds. */
  #budgetMs: number;
  #refilledAtMs: number;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#budgetMs = this.#mostBudgetMs();
    this.#refilledAtMs = options.nowMs();
  }

  /** Carries out an order. */
  perform(order: ShadowOrder): ShadowAnswer {
    switch (order.kind) {
      case "listFeatures":
        return { kind: "features", ids: ShadowSvm.features() };
      case "features":
        this.#activate(order.active);
        return { kind: "done" };
      case "program": {
        const id = Address.from(order.id);
        this.#deploy({ id, slot: order.slot, isUpgradeable: order.isUpgradeable, code: order.code });
        return { kind: "done" };
      }
      case "check":
        return this.#check(order);
    }
  }

  /** Other features take a new runtime, and decide anew which programs can be loaded. */
  #activate(features: readonly Uint8Array[]): void {
    if (isSame(features, this.#features)) return;
    this.#features = features;
    this.#svm = undefined;
    for (const program of this.#programs.values()) this.#tryToLoad(program);
  }

  /** A new program is added to the runtime; another build of one takes a new runtime. */
  #deploy(program: LoadedProgram): void {
    const known = this.#programs.get(program.id);
    if (known?.slot === program.slot) return;
    this.#programs.set(program.id, program);
    const isLoadable = this.#tryToLoad(program);
    if (known === undefined && isLoadable) this.#svm?.load(program);
    else this.#svm = undefined;
  }

  /** Notes whether a runtime of its own loads the program. */
  #tryToLoad(program: LoadedProgram): boolean {
    const reason = whyUnloadable(program, this.#features);
    if (reason === undefined) this.#unloadable.delete(program.id);
    else this.#unloadable.set(program.id, reason);
    return reason === undefined;
  }

  #check(order: Extract<ShadowOrder, { kind: "check" }>): ShadowAnswer {
    this.#refill();
    if (order.isRoutine && this.#budgetMs <= 0) return { kind: "busy" };
    const beganMs = this.#options.cpuMs();
    const slots = new Map(order.programs.map(({ id, slot }) => [Address.from(id), slot]));
    try {
      return checkMarket({ venues: this.#options.venues, svmWith: (ids) => this.#svmWith(ids, slots) }, order);
    } finally {
      this.#budgetMs -= this.#options.cpuMs() - beganMs;
    }
  }

  /** The runtime, or those of the programs that it does not have in the build wanted. */
  #svmWith(ids: readonly Address[], slots: ReadonlyMap<Address, bigint>): ShadowSvm | readonly Address[] {
    const lacking = ids.filter((id) => {
      const loaded = this.#programs.get(id);
      return loaded === undefined || loaded.slot !== slots.get(id);
    });
    if (lacking.length > 0) return lacking;
    this.#svm ??= this.#load();
    for (const id of ids) {
      const reason = this.#unloadable.get(id);
      if (reason !== undefined) throw new UnloadableProgram(reason);
    }
    return this.#svm;
  }

  #load(): ShadowSvm {
    const loadable = [...this.#programs.values()].filter(({ id }) => !this.#unloadable.has(id));
    return new ShadowSvm(loadable, this.#features);
  }

  #refill(): void {
    const atMs = this.#options.nowMs();
    const earnedMs = ((atMs - this.#refilledAtMs) * this.#options.cpuPercent) / 100;
    this.#budgetMs = Math.min(this.#budgetMs + earnedMs, this.#mostBudgetMs());
    this.#refilledAtMs = atMs;
  }

  #mostBudgetMs(): number {
    return (BUDGET_WINDOW_MS * this.#options.cpuPercent) / 100;
  }
}

/** In any order. */
function isSame(features: readonly Uint8Array[], others: readonly Uint8Array[] | undefined): boolean {
  if (others?.length !== features.length) return false;
  const known = new Set(others.map((id) => Address.from(id)));
  return features.every((id) => known.has(Address.from(id)));
}

/** Why the runtime does not load a program; undefined if it does. */
function whyUnloadable(program: LoadedProgram, features: readonly Uint8Array[] | undefined): string | undefined {
  try {
    new ShadowSvm([program], features);
    return undefined;
  } catch (error) {
    return `the program ${program.id} cannot be loaded: ${String(error)}`;
  }
}
