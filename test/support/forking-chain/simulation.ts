import { vi } from "vitest";
import type WebSocket from "ws";
import type { AccountReader } from "../../../src/chain/port.ts";
import { NodeSlots } from "../../../src/chain/rpc/accounts/node-slots.ts";
import { createSubscriptions, type Subscriptions } from "../../../src/chain/rpc/subscriptions/subscriptions.ts";
import { createRpcStateSource } from "../../../src/chain/state/rpc-state-source.ts";
import type { LiveStateSource } from "../../../src/chain/state/state-source.ts";
import { SubscriptionFeed } from "../../../src/chain/state/subscription-feed.ts";
import { createYellowstoneStateSource } from "../../../src/chain/yellowstone/yellowstone-state-source.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { type Now, steadyClock } from "../../../src/primitives/clock.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { ADDRESSES, accountOf, addressOf, valueIn } from "./accounts.ts";
import { type Block, ForkingNetwork, type Value } from "./network.ts";
import { ForkingNode } from "./node.ts";
import { NodeSocket } from "./websocket.ts";
import { NodeStream, type Replay } from "./yellowstone.ts";

export interface SimulationOptions {
  readonly seed: number;
  readonly slots?: number;
  readonly log?: (line: string) => void;
}

/** What was wrong, each in a line; empty if nothing was. */
export interface SimulationResult {
  readonly wrong: readonly string[];
  /** Looks at accounts, and those at which a trade could have been built. */
  readonly looks: number;
  readonly usable: number;
}

const KEYS = 5;
/** State a trade is built on is no older. Milliseconds. */
const USABLE_MS = 2_000;
const LOOK_MS = 37;
/** At the end nothing fails for so many slots, and then nothing is written for so many more. */
const CALM_SLOTS = 30;
const SILENT_SLOTS = 10;
/** Upper bounds of slots by which a node is late, or starts again behind its root, and of final blocks that are undone. */
const MOST_LAG_SLOTS = 40;
const MOST_UNDONE = 12;
/** The same of slots in a row that are skipped, and of those by which a second machine behind one address is late. */
const MOST_SKIPPED = 28;
const MOST_APART = 6;
/** By which the wall clock is set ahead or back. Milliseconds. */
const CLOCK_STEP_MS = 30_000;
/** Further draws are made from other sequences. */
const FURTHER = 1_000_003;

/** Follows a chain that forks through nodes that fail, in time that the caller holds, and compares what is served with the truth. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  return await simulation.run();
}

class Simulation {
  readonly #random: Random;
  readonly #slots: number;
  readonly #log: (line: string) => void;
  readonly #slotMs: number;
  readonly #network: ForkingNetwork;
  /** By address. */
  readonly #nodes: readonly ForkingNode[];
  /** A second machine behind the address of the first node: each call and connection reaches one of the two. */
  readonly #twin: ForkingNode | undefined;
  readonly #further: Random;
  readonly #sockets = new Set<NodeSocket>();
  readonly #streams = new Set<NodeStream>();
  readonly #isYellowstone: boolean;
  /** True if nodes start again in this run, and if some are late: one of the two at least. */
  readonly #isRestarting: boolean;
  readonly #isLagging: boolean;
  /** True if final blocks are undone in this run. */
  readonly #isUndoing: boolean;
  /** True if leaders are absent for several slots, and if the wall clock is set, in this run. */
  readonly #isSkipping: boolean;
  readonly #isSettingClock: boolean;
  /** True if the accounts are those of markets: one node's word is not enough for them to be gone. */
  readonly #isLasting: boolean;
  readonly #now: Now;
  #wallAheadMs = 0;
  #absent = 0;
  readonly #source: LiveStateSource;
  readonly #stops: (() => void)[] = [];
  readonly #held = new Map<number, { readonly value: Value | undefined; readonly slot: bigint }>();
  readonly #followed = new Set<number>();
  readonly #wrong: string[] = [];
  readonly #nodeSlots = new NodeSlots(() => this.#now());
  /** How long after a change of the chain it may still be served as what it was. Milliseconds. */
  #slackMs: number;
  #replay: Replay = "served";
  #headSlot = 0;
  #looks = 0;
  #usable = 0;

  constructor({ seed, slots = 100, log = () => {} }: SimulationOptions) {
    const random = createRandom(seed);
    this.#random = random;
    this.#slots = slots;
    this.#log = (line) => log(`${Date.now()} ${line}`);
    this.#slotMs = random.pick([150, 200, 400, 1_000]);
    this.#slackMs = 2 * this.#slotMs + 700;
    this.#isYellowstone = random.chance(0.5);
    this.#isRestarting = random.chance(0.5);
    this.#isUndoing = random.chance(0.25);
    const chance = (most: number) => (random.u32() / 2 ** 32) * most;
    this.#network = new ForkingNetwork(random, KEYS, {
      skip: chance(0.2),
      dead: chance(0.1),
      fork: chance(0.4),
      replace: random.chance(0.5) ? chance(0.2) : 0,
      write: chance(1),
      back: random.chance(0.3) ? chance(0.8) : 0,
    });
    const count = random.pick([1, 2, 3]);
    this.#nodes = Array.from(
      { length: count },
      (_, i) => new ForkingNode(`node${i}`, this.#network, random, this.#slotMs),
    );
    const isCompared = count > 1 && random.chance(0.5);
    const further = createRandom(seed + FURTHER);
    const furthest = createRandom(seed + 2 * FURTHER);
    this.#isLagging = !this.#isRestarting || furthest.chance(0.5);
    this.#further = further;
    const isWitnessed = isCompared && further.chance(0.5);
    this.#isLasting = further.chance(0.5);
    this.#isSkipping = further.chance(0.25);
    this.#isSettingClock = further.chance(0.2);
    this.#twin = further.chance(0.2) ? new ForkingNode("twin", this.#network, further, this.#slotMs) : undefined;
    const apart = further.u32() % (MOST_APART + 1);
    this.#twin?.lag(apart * this.#slotMs);
    // If all calls reach the machine that is behind, there is no other address that could tell.
    if (this.#twin !== undefined && count === 1) this.#slackMs += apart * this.#slotMs;
    this.#now = steadyClock(() => Date.now() + this.#wallAheadMs, Date.now);
    const witnesses = isCompared
      ? this.#nodes.map((node) => ({
          name: node.name,
          reader: this.#readerOf(() => node),
          setAside: () => this.#setAside(node),
        }))
      : [];
    const shared = {
      reader: this.#readerOf(() => random.pick(this.#nodes)),
      now: this.#now,
      warn: (message: string) => this.#log(`WARN ${message}`),
      headSlot: () => BigInt(this.#headSlot),
      slotByNodes: () => this.#nodeSlots.reachedByTwo(this.#slotMs),
      random: () => random.u32() / 2 ** 32,
      witnesses,
      witnessStreams: isWitnessed
        ? this.#nodes.map(({ name }) => ({ host: name, open: () => this.#openWitness(name) }))
        : [],
    };
    this.#log(
      `${this.#isYellowstone ? "yellowstone" : "websocket"}, ${count} nodes, compared ${isCompared}, witnessed ${isWitnessed}, lasting ${this.#isLasting}, skipping ${this.#isSkipping}, clock ${this.#isSettingClock}, twin ${this.#twin !== undefined}`,
    );
    this.#source = this.#isYellowstone ? this.#followStream(shared) : this.#followSockets(shared);
    this.#source.onAccount((address, account, slot) => this.#deliver(address, account, slot));
  }

  #followStream(shared: Omit<Parameters<typeof createYellowstoneStateSource>[0], "url" | "token">): LiveStateSource {
    const random = this.#random;
    return createYellowstoneStateSource({
      ...shared,
      random: () => random.u32() / 2 ** 32,
      url: "http://stream",
      token: undefined,
      replaySlots: 16n,
      open: ({ onMessage, onEnd }) => {
        const node = this.#machineOf(random.pick(this.#nodes));
        this.#log(`STREAM to ${node.name}, replay ${this.#replay}`);
        const stream = new NodeStream({ node, random, replay: this.#replay, onMessage, onEnd });
        this.#streams.add(stream);
        return stream;
      },
    });
  }

  #followSockets(
    shared: Omit<Parameters<typeof createRpcStateSource>[0], "subscriptions" | "commitment">,
  ): LiveStateSource {
    const subscriptions = this.#subscribeTo(this.#nodes.map(({ name }) => name));
    this.#stops.push(() => subscriptions.close());
    return createRpcStateSource({ ...shared, subscriptions, commitment: "processed" });
  }

  /** The machine behind a node's address that a call or a connection reaches. */
  #machineOf(node: ForkingNode): ForkingNode {
    return this.#twin !== undefined && node === this.#nodes[0] && this.#further.chance(0.5) ? this.#twin : node;
  }

  #machines(): readonly ForkingNode[] {
    return this.#twin === undefined ? this.#nodes : [...this.#nodes, this.#twin];
  }

  #subscribeTo(names: readonly string[]): Subscriptions {
    return createSubscriptions({
      urls: names.map((name) => `ws://${name}`),
      now: this.#now,
      random: () => this.#random.u32() / 2 ** 32,
      warn: (message) => this.#log(`WARN ${message}`),
      open: (url) => {
        const node = this.#machineOf(this.#nodes.find(({ name }) => name === new URL(url).host)!);
        const socket = new NodeSocket(node, this.#random);
        this.#log(`SOCKET to ${node.name}`);
        this.#sockets.add(socket);
        return socket as unknown as WebSocket;
      },
    });
  }

  #openWitness(name: string): SubscriptionFeed {
    const subscriptions = this.#subscribeTo([name]);
    return new SubscriptionFeed(subscriptions, "processed", () => subscriptions.close());
  }

  #readerOf(pick: () => ForkingNode): AccountReader {
    const random = this.#random;
    return {
      fetchAccounts: async (addresses) => {
        const address = pick();
        const node = this.#machineOf(address);
        const sentAtMs = this.#now();
        await new Promise((resolve) => setTimeout(resolve, 2 + (random.u32() % 60)));
        if (node.isDown) throw new Error(`${node.name} is down`);
        const slot = BigInt(node.head.slot);
        const accounts = addresses.map((address) => {
          const key = ADDRESSES.indexOf(address);
          return accountOf(key, node.head.state[key]!, node.head.slot);
        });
        this.#log(`READ ${node.name} slot ${slot} [${accounts.map((one) => one && valueIn(one))}]`);
        await new Promise((resolve) => setTimeout(resolve, 2 + (random.u32() % 60)));
        this.#nodeSlots.note(address, slot, sentAtMs);
        return { slot, accounts };
      },
      fetchProgramAccounts: async () => "refused",
    };
  }

  async run(): Promise<SimulationResult> {
    for (let warm = 0; warm < 15; warm++) await this.#slot(true);
    void this.#follow(KEYS);
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#random.chance(0.06)) this.#fail();
      await this.#slot(false);
    }
    for (const node of this.#machines()) node.recover();
    for (let slot = 0; slot < CALM_SLOTS; slot++) await this.#slot(true);
    this.#network.isSilent = true;
    for (let slot = 0; slot < SILENT_SLOTS; slot++) await this.#slot(true);
    this.#checkEnd();
    this.#source.close();
    for (const stop of this.#stops) stop();
    for (const socket of this.#sockets) socket.cut();
    await vi.runAllTimersAsync();
    return { wrong: this.#wrong, looks: this.#looks, usable: this.#usable };
  }

  async #follow(count: number): Promise<void> {
    const keys = Array.from({ length: count }, (_, key) => key).filter((key) => !this.#followed.has(key));
    for (const key of keys) this.#followed.add(key);
    const following = this.#source.follow(keys.map((key) => ADDRESSES[key]!));
    if (this.#isLasting) for (const key of keys) this.#source.recordOf!(ADDRESSES[key]!)!.isLasting = true;
    await following.catch(() => {});
  }

  async #slot(isCalm: boolean): Promise<void> {
    const random = this.#random;
    const { tips } = this.#network;
    const isAbsent = !isCalm && this.#absent > 0;
    this.#absent -= 1;
    const block = this.#network.advance(Date.now(), isCalm, isAbsent);
    const what =
      block === undefined
        ? "skipped"
        : `on ${block.parent!.slot}${block.isDead ? " dead" : ""}${block.replaced === undefined ? "" : ` (first on ${block.replaced.parent.slot})`} ${block.writes.map(({ key, value }) => `${key}=${value}`).join(" ")}`;
    this.#log(
      `SLOT ${this.#network.slot} ${what}; tips ${this.#network.tips.map(({ slot }) => slot)} before ${tips.map(({ slot }) => slot)}`,
    );
    for (const node of this.#machines()) {
      node.reconsider();
      if (block !== undefined) node.receive(block);
    }
    const newest = Math.max(...this.#nodes.map((node) => (node.isDown ? 0 : node.newest)));
    setTimeout(() => {
      this.#headSlot = Math.max(this.#headSlot, newest);
    }, 300);
    if (random.chance(0.1)) this.#use();
    for (let passed = 0; passed < this.#slotMs; passed += LOOK_MS) {
      this.#look();
      await vi.advanceTimersByTimeAsync(Math.min(LOOK_MS, this.#slotMs - passed));
    }
  }

  #use(): void {
    this.#source.use([...this.#followed].filter(() => this.#random.chance(0.5)).map((key) => ADDRESSES[key]!));
  }

  /** Something goes wrong, or is done that could. */
  #fail(): void {
    const random = this.#random;
    const isAlone = this.#nodes.length === 1;
    const several = ["stall", "down", ...(this.#isRestarting ? ["restart"] : []), ...(this.#isLagging ? ["lag"] : [])];
    const kinds = ["cut", "cut", "refollow", "refresh", "replay", ...(this.#isUndoing ? ["undo"] : [])];
    if (!isAlone) kinds.push(...several);
    if (this.#isSkipping) kinds.push("absent");
    if (this.#isSettingClock) kinds.push("clock");
    const kind = random.pick(kinds);
    const ms = 200 + (random.u32() % 6_000);
    const node = random.pick(this.#nodes);
    this.#log(`FAIL ${kind} ${node.name} ${ms}`);
    // One node at a time: nobody could know better than a node that all others are worse than.
    const isOtherWell = !this.#nodes.some((one) => one !== node && (one.isStalled || one.isDown || one.isLate));
    if (kind === "cut") this.#cut(ms);
    else if (kind === "stall" && isOtherWell) node.stall(ms);
    else if (kind === "lag" && isOtherWell) node.lag((1 + (random.u32() % MOST_LAG_SLOTS)) * this.#slotMs, 4 * ms);
    else if (kind === "restart" && isOtherWell)
      this.#restart(node, blockBefore(node.root, random.u32() % MOST_LAG_SLOTS));
    else if (kind === "absent") this.#absent = 1 + (this.#further.u32() % MOST_SKIPPED);
    else if (kind === "clock") this.#wallAheadMs += this.#further.pick([CLOCK_STEP_MS, -CLOCK_STEP_MS]);
    else if (kind === "undo") this.#undo(random.u32() % MOST_UNDONE);
    else if (kind === "down" && isOtherWell) {
      this.#leave(node, ms);
      this.#cut(0);
    } else if (kind === "replay") this.#replay = random.pick(["served", "served", "empty", "partly", "refused"]);
    else if (kind === "refresh")
      void this.#source.refresh([...this.#followed].map((key) => ADDRESSES[key]!)).catch(() => {});
    else {
      const key = random.u32() % KEYS;
      this.#source.unfollow([ADDRESSES[key]!]);
      this.#followed.delete(key);
      this.#held.delete(key);
      // Before the end is judged.
      setTimeout(() => void this.#follow(KEYS), Math.min(ms, CALM_SLOTS * this.#slotMs));
    }
  }

  /** Nothing behind the node's address answers for a while. */
  #leave(node: ForkingNode, ms: number): void {
    node.leave(ms);
    if (node === this.#nodes[0]) this.#twin?.leave(ms);
  }

  /** The node starts again from a block of before: its connections end. */
  #restart(node: ForkingNode, from: Block): void {
    this.#disconnect(node);
    node.restart(from);
  }

  /** Final blocks are undone: all nodes start again from one before them. */
  #undo(depth: number): void {
    this.#network.undo(depth);
    for (const node of this.#machines()) {
      this.#disconnect(node);
      node.undo();
    }
  }

  #disconnect(node: ForkingNode): void {
    for (const socket of this.#sockets) if (socket.node === node) socket.cut();
    for (const stream of this.#streams) if (stream.node === node) stream.cut();
  }

  /** Connections end; new ones are refused for a while. */
  #cut(ms: number): void {
    // Reads too: the whole node is unreachable.
    if (ms > 1_000 && this.#nodes.length === 1) this.#leave(this.#nodes[0]!, ms);
    for (const socket of this.#sockets) socket.cut();
    this.#sockets.clear();
    for (const stream of this.#streams) stream.cut();
    this.#streams.clear();
  }

  #deliver(address: Address, account: Parameters<Parameters<LiveStateSource["onAccount"]>[0]>[1], slot: bigint): void {
    const key = addressOf.indexOf(address.toString());
    const value = account === undefined ? undefined : valueIn(account);
    this.#held.set(key, { value, slot });
    this.#log(`HELD ${key}=${value} of slot ${slot}`);
    if (value === undefined) return;
    if (!this.#network.wasHeld(key, Number(slot), value, this.#isYellowstone))
      this.#report(`account ${key} never held ${value} in slot ${slot}`);
  }

  #look(): void {
    const nowMs = this.#now();
    const aheadMs = nowMs - Date.now();
    const contested = this.#source.contested();
    for (const key of this.#followed) {
      const held = this.#held.get(key);
      if (held?.value === undefined) continue;
      this.#looks += 1;
      const currentAtMs = this.#source.currentAtMs(ADDRESSES[key]!);
      // A trade could be built on it for ever.
      if (currentAtMs > nowMs)
        this.#report(`account ${key} is said to hold ${held.value} in ${currentAtMs - nowMs} ms`);
      if (contested.has(ADDRESSES[key]!)) continue;
      if (currentAtMs > nowMs - USABLE_MS) this.#usable += 1;
      const aliveAtMs = this.#network.aliveAtMs(key, held.value) + aheadMs;
      if (aliveAtMs >= currentAtMs - this.#slackMs) continue;
      this.#report(
        `account ${key} is said to hold ${held.value} (slot ${held.slot}) up to ${nowMs - currentAtMs} ms ago; it did up to ${nowMs - aliveAtMs} ms ago`,
      );
    }
  }

  /** All are honest; but what was said before final blocks were undone may contradict what is said after. */
  #setAside({ name }: ForkingNode): void {
    if (!this.#network.wasUndone) this.#report(`${name} is set aside, though it is honest`);
  }

  #report(line: string): void {
    this.#log(`WRONG ${line}`);
    if (this.#wrong.length < 10) this.#wrong.push(line);
  }

  /** Once all is calm, what is served is the chain, and current. */
  #checkEnd(): void {
    const { head } = this.#nodes[0]!;
    const nowMs = this.#now();
    for (const key of this.#followed) {
      const held = this.#held.get(key);
      const ageMs = nowMs - this.#source.currentAtMs(ADDRESSES[key]!);
      if (held?.value !== head.state[key] || ageMs > USABLE_MS)
        this.#report(`at the end account ${key} holds ${held?.value} as of ${ageMs} ms ago, not ${head.state[key]}`);
    }
  }
}

function blockBefore(block: Block, count: number): Block {
  let at = block;
  for (let left = count; left > 0 && at.parent !== undefined; left--) at = at.parent;
  return at;
}
