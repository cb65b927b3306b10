import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { DeployedProgram } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { asAccount, asContext } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import { DeployVotes } from "./deploy-votes.ts";
import { CODE_HEADER_BYTES, deploySlotOf } from "./deployment.ts";
import type { ProgramReader } from "./program-reader.ts";

interface ProgramWatchOptions {
  readonly reader: ProgramReader;
  readonly subscriptions: Pick<Subscriptions, "subscribe" | "doubt" | "host">;
  readonly commitment: "processed" | "confirmed";
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Sets aside a node that two others contradict, with the reason. */
  readonly contradict: (endpoint: RpcEndpoint, what: string) => void;
  /** How often deployments are read, whatever the stream reports. Milliseconds. */
  readonly pollMs?: number;
  /** Pause before nodes that are behind a notice are asked again. Milliseconds. */
  readonly pauseMs?: number;
}

const DEFAULT_POLL_MS = 2_000;

/** Follows which builds of programs are deployed. */
export interface ProgramWatch {
  /** Follows programs from now on; resolves once their deployments are known. @throws TradewireError UPSTREAM_ERROR */
  follow(ids: readonly Address[]): Promise<void>;
  /** The deployment now; null if there is none that can be read, undefined if it is not followed or not read yet. */
  get(id: Address): DeployedProgram | null | undefined;
  /** Calls the listener when a followed program is replaced. Set once. */
  onReplaced(listener: (deployed: DeployedProgram) => void): void;
  /** Reads the deployments now. Never rejects. */
  refresh(): Promise<void>;
  /** Every deployment known. */
  all(): readonly DeployedProgram[];
  close(): void;
}

/** Follows deployments by subscription to the headers of their code, and by reads now and then, which the nodes vote on. */
export function createProgramWatch(options: ProgramWatchOptions): ProgramWatch {
  return new HeaderWatch(options);
}

class HeaderWatch implements ProgramWatch {
  readonly #options: ProgramWatchOptions;
  readonly #programs = new Map<Address, DeployedProgram | null>();
  readonly #reading = new Map<Address, Promise<void>>();
  readonly #cancels: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #votes: DeployVotes;
  #listener: (deployed: DeployedProgram) => void = () => {};
  #isPolling = false;
  #polls = 0;
  #isFailing = false;

  constructor(options: ProgramWatchOptions) {
    this.#options = options;
    const { reader, subscriptions, now, warn, contradict, pauseMs } = options;
    this.#votes = new DeployVotes({
      reader,
      now,
      warn,
      contradict,
      doubt: () => void subscriptions.doubt(),
      host: () => subscriptions.host(),
      settle: (id, slot) => this.#note(id, slot),
      ...(pauseMs === undefined ? {} : { pauseMs }),
    });
    this.#timer = setInterval(() => void this.refresh(), options.pollMs ?? DEFAULT_POLL_MS);
  }

  async follow(ids: readonly Address[]): Promise<void> {
    const fresh = ids.filter((id) => !this.#programs.has(id) && !this.#reading.has(id));
    if (fresh.length > 0) {
      const reading = this.#begin(fresh).finally(() => {
        for (const id of fresh) this.#reading.delete(id);
      });
      for (const id of fresh) this.#reading.set(id, reading);
    }
    await Promise.all(new Set(ids.map((id) => this.#reading.get(id))));
  }

  get(id: Address): DeployedProgram | null | undefined {
    return this.#programs.get(id);
  }

  onReplaced(listener: (deployed: DeployedProgram) => void): void {
    this.#listener = listener;
  }

  all(): readonly DeployedProgram[] {
    return [...this.#programs.values()].filter((one) => one !== null);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#votes.close();
    for (const cancel of this.#cancels.splice(0)) cancel();
  }

  async #begin(ids: readonly Address[]): Promise<void> {
    const found = await this.#options.reader.fetchDeployments(ids);
    ids.forEach((id, i) => {
      const deployed = found[i] ?? null;
      this.#programs.set(id, deployed);
      if (deployed?.isUpgradeable) this.#cancels.push(this.#subscribe(deployed));
    });
  }

  #subscribe({ id, codeAddress }: DeployedProgram): () => void {
    const { subscriptions, commitment } = this.#options;
    const dataSlice = { offset: 0, length: CODE_HEADER_BYTES };
    return subscriptions.subscribe({
      kind: "account",
      params: [codeAddress.toString(), { encoding: "base64", commitment, dataSlice }],
      onNotice: (result) => {
        const { slot, value } = asContext(result, "a program notice");
        const account = asAccount(codeAddress, value, slot);
        const deployed = account === null ? undefined : deploySlotOf(account.data);
        const known = this.#programs.get(id);
        if (deployed === undefined || known === null || known === undefined || known.slot === deployed) return;
        this.#votes.receive(known, deployed, slot);
      },
    });
  }

  /**
   * One node's report counts only after the others were asked. Null is read again too: a program may be deployed later, or its node may
   * have lagged.
   */
  async refresh(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const { reader } = this.#options;
    try {
      const known = this.all();
      const absent = [...this.#programs].filter(([, one]) => one === null).map(([id]) => id);
      // Each poll asks a different node first, so that none can hide a replacement for long.
      const { at, slots, appeared } = await reader.fetchNews(known, absent, this.#polls++);
      for (const [i, program] of known.entries()) {
        const slot = slots[i];
        if (slot === undefined || slot === program.slot) continue;
        if (reader.canVote) this.#votes.check(program, slot, at);
        else this.#note(program.id, slot);
      }
      if (appeared.length > 0) await this.#begin(appeared);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.warn(`Cannot read which programs are deployed: ${String(error)}`);
      this.#isFailing = true;
    } finally {
      this.#isPolling = false;
    }
  }

  /** A slot below the known one counts too: a fork may undo an upgrade. A closed program is no new deployment. */
  #note(id: Address, slot: bigint | undefined): void {
    const known = this.#programs.get(id);
    if (slot === undefined || known === null || known === undefined || known.slot === slot) return;
    const deployed = { ...known, slot };
    this.#programs.set(id, deployed);
    this.#listener(deployed);
  }
}
