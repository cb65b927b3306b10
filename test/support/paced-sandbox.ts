import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";

/** An embedded chain whose slots this process opens one by one. */
export interface PacedSandbox extends Sandbox {
  /** The slot now open. */
  slot(): number;
  /** The chain's own clock: moves by `slotMs` a slot, and by itself while the chain is paused. Milliseconds. */
  now(): number;
  /** Resolves when this many more slots have opened. */
  passSlots(count: number): Promise<void>;
}

type PacedOptions = Parameters<typeof startSandbox>[0] & { readonly slotMs: number };

/**
 * Starts an embedded chain that never runs ahead of its readers: the next slot opens `slotMs` after this process has noticed
 * the last one. Blockhashes thus live as long on a busy machine as on a quiet one, counted in work done.
 */
export async function startPacedSandbox(options: PacedOptions): Promise<PacedSandbox> {
  const sandbox = await startSandbox(options);
  await sandbox.pause();
  const pacer = new Pacer(sandbox, options.slotMs, await sandbox.advanceSlots(0));
  pacer.resume();
  return {
    ...sandbox,
    slot: () => pacer.slot,
    now: () => pacer.now(),
    async passSlots(count) {
      for (const last = pacer.slot + count; pacer.slot < last; ) await sleep(1);
    },
    pause: () => pacer.pause(),
    resume: async () => pacer.resume(),
    advanceSlots: (count) => pacer.advance(count),
    async setSlotMs(slotMs) {
      pacer.slotMs = slotMs;
    },
    async close() {
      await pacer.pause();
      await sandbox.close();
    },
  };
}

class Pacer {
  slotMs: number;
  slot: number;
  readonly #sandbox: Sandbox;
  /** The chain's clock when the open slot began, and the machine's. */
  #slotAtMs = Date.now();
  #openedMs = performance.now();
  #running: Promise<void> | undefined;
  #stopped = true;

  constructor(sandbox: Sandbox, slotMs: number, slot: number) {
    this.#sandbox = sandbox;
    this.slotMs = slotMs;
    this.slot = slot;
  }

  now(): number {
    const openMs = performance.now() - this.#openedMs;
    return this.#slotAtMs + (this.#stopped ? openMs : Math.min(openMs, this.slotMs));
  }

  async advance(count: number): Promise<number> {
    const slot = await this.#sandbox.advanceSlots(count);
    this.#slotAtMs = Math.max(this.#slotAtMs + count * this.slotMs, this.now());
    this.#openedMs = performance.now();
    this.slot = slot;
    return slot;
  }

  resume(): void {
    this.#stopped = false;
    this.#running ??= this.#run();
  }

  async pause(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    this.#running = undefined;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const dueMs = performance.now() + this.slotMs;
      await this.advance(1);
      await sleep(Math.max(1, dueMs - performance.now()));
    }
  }
}
