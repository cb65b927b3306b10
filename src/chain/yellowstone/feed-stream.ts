import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { TurnBudget } from "../../primitives/turns/turn-budget.ts";
import type { FeedListener } from "../state/account-feed.ts";
import { ConnectionSlots } from "./connection-slots.ts";
import { Coverage } from "./coverage.ts";
import { type GrpcStream, openGrpcStream } from "./grpc-stream.ts";
import { NewestReported } from "./newest-reported.ts";
import { StreamReplay } from "./stream-replay.ts";
import {
  type AccountUpdate,
  decodeSubscribeUpdate,
  encodePing,
  encodeSubscribeRequest,
  SLOT_STATUS,
  type SlotUpdate,
} from "./yellowstone-wire.ts";

/** A Yellowstone server and how its streams are kept. */
export interface FeedStreamOptions {
  /** Scheme, host and port: `https://…` or `http://…`. */
  readonly url: string;
  /** Sent as `x-token`. */
  readonly token: string | undefined;
  readonly now: Now;
  /** Spreads reconnects; 0 ≤ value < 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Silence after which a stream is considered dead, whatever the connection says. */
  readonly silentMs?: number;
  /** The newest slot known from elsewhere; 0 before the first. Slots far ahead of it are discarded. */
  readonly headSlot?: () => bigint;
  /** Slots ahead of it at which a slot is discarded. */
  readonly maxLeadSlots?: bigint;
  /** How many slots back a stream asks to be replayed after a cut. */
  readonly replaySlots?: bigint;
  /** How a stream is opened; absent: over the network. */
  readonly open?: typeof openGrpcStream;
}

/** What a stream needs from its feed. */
interface StreamOwner {
  readonly listener: FeedListener | undefined;
  nextEpoch(): number;
}

const DEFAULT_SILENT_MS = 3_000;
const DEFAULT_REPLAY_SLOTS = 32n;
const DEFAULT_MAX_LEAD_SLOTS = 64n;
/** New accounts are gathered for this long and requested together. Milliseconds. */
const GATHER_MS = 10;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** Number of slot statuses among which a slot's beginning should have been. */
const MUTE_STATUSES = 30;
/** Accounts whose coverage can be changed in the time that one message takes on average. */
const ACCOUNTS_PER_MESSAGE = 20;
/** Streams that may request their thousands of accounts in one turn of the loop: all may have lost their connections at once. */
const connects = new TurnBudget(1);

/**
 * One stream and its accounts, over as many connections as it takes.
 *
 * A request carries its generation in the name of its filters, and updates carry the names of the filters they passed. The
 * first slot that begins under a generation is the first reported completely for the accounts of that request. Slots begun
 * earlier are only partly seen and left to reads.
 *
 * After a cut the stream asks for a replay from some slots back and checks it: it must begin no later than the newest slot
 * before the cut, and hold at least as many updates of each slot as were received before. Otherwise everything counts as missed.
 * The slots after that are as old as the cut, too, up to the first that begins under a further request: that is the newest there is.
 */
export class FeedStream {
  readonly #options: FeedStreamOptions;
  readonly #owner: StreamOwner;
  readonly #host: string;
  readonly #silentMs: number;
  readonly #replaySlots: bigint;
  readonly #coverage = new Coverage();
  readonly #watch: NodeJS.Timeout;
  #stream: GrpcStream | undefined;
  /** Of the current connection. */
  #slots = new ConnectionSlots();
  #epoch = 0;
  #replay: StreamReplay | undefined;
  #canReplay = true;
  #gatherTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosed = false;
  #isMute = false;
  /** The newest slot begun, over all connections. */
  readonly #newest = new NewestReported();
  /** When the newest slot was reported that is not repeated. */
  #liveAtMs = 0;
  /** The generation whose slots are not repeated, nor those after it. */
  #liveFrom = 0;
  #aliveAtMs = 0;
  readonly #connectNow = () => this.#connect();

  constructor(options: FeedStreamOptions, owner: StreamOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#host = new URL(options.url).host;
    this.#silentMs = options.silentMs ?? DEFAULT_SILENT_MS;
    this.#replaySlots = options.replaySlots ?? DEFAULT_REPLAY_SLOTS;
    this.#watch = setInterval(() => this.#checkAlive(), this.#silentMs / 4);
    this.#connect();
  }

  get size(): number {
    return this.#coverage.addresses.size;
  }

  /** When the newest slot was reported (epoch milliseconds); slots that are repeated do not count. */
  get liveAtMs(): number {
    return this.#liveAtMs;
  }

  follow(address: Address): void {
    this.#coverage.add(address);
    this.#requestSoon();
  }

  unfollow(address: Address): void {
    this.#coverage.delete(address);
    this.#requestSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#gatherTimer);
    clearTimeout(this.#retryTimer);
    connects.forget(this.#connectNow);
    this.#stream?.close();
    this.#stream = undefined;
  }

  #requestSoon(): void {
    if (this.#stream === undefined) return;
    this.#gatherTimer ??= setTimeout(() => this.#request(), GATHER_MS);
  }

  /** @returns the generation of the request */
  #request(fromSlot?: bigint): number {
    clearTimeout(this.#gatherTimer);
    this.#gatherTimer = undefined;
    const generation = this.#coverage.request();
    const name = String(generation);
    this.#stream?.send(encodeSubscribeRequest({ name, accounts: this.#coverage.addresses, fromSlot }));
    return generation;
  }

  #connectInTurn(): void {
    if (connects.isSpent) connects.whenRenewed(this.#connectNow);
    else this.#connect();
  }

  #connect(): void {
    const { url, token, now, open = openGrpcStream } = this.#options;
    connects.spend();
    this.#epoch = this.#owner.nextEpoch();
    this.#aliveAtMs = now();
    const { slot: upTo } = this.#newest;
    const canReplay = this.#canReplay && upTo > this.#replaySlots;
    const fromSlot = canReplay ? upTo - this.#replaySlots : undefined;
    // An interrupted replay has received less than there was before it.
    this.#replay =
      fromSlot === undefined
        ? undefined
        : (this.#replay?.again() ?? new StreamReplay(fromSlot, upTo, this.#slots.updates));
    this.#slots = new ConnectionSlots();
    this.#liveFrom = canReplay ? Number.POSITIVE_INFINITY : 0;
    if (!canReplay) this.#missAll();
    const opened = open({
      url,
      path: "/geyser.Geyser/Subscribe",
      headers: token === undefined ? {} : { "x-token": token },
      onMessage: (message) => {
        if (this.#stream === opened) this.#receive(message);
      },
      onEnd: (reason) => {
        if (this.#stream === opened) this.#lose(reason);
      },
    });
    this.#stream = opened;
    this.#request(fromSlot);
  }

  #lose(reason: string): void {
    const { warn, random } = this.#options;
    this.#stream = undefined;
    clearTimeout(this.#gatherTimer);
    this.#gatherTimer = undefined;
    this.#coverage.requeue();
    if (this.#isClosed) return;
    const isReplayRefused = this.#slots.first === undefined && reason.startsWith("gRPC status");
    if (this.#replay !== undefined && isReplayRefused) this.#canReplay = false;
    warn(`The Yellowstone stream of ${this.#host} is lost (${reason}); reconnecting.`);
    this.#retryTimer = setTimeout(() => this.#connectInTurn(), this.#retryMs * (0.75 + random() / 2));
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  /** Any change may have been missed: coverage of every account restarts with the next slot that begins. */
  #missAll(): void {
    const { listener } = this.#owner;
    listener?.onUncovered([...this.#coverage.addresses]);
    listener?.onRestart();
    this.#coverage.requeueAll();
  }

  #checkAlive(): void {
    const { now, warn } = this.#options;
    if (this.#stream === undefined) return;
    if (!this.#isMute && this.#slots.first === undefined && this.#slots.statuses > MUTE_STATUSES) {
      this.#isMute = true;
      warn(
        `The Yellowstone server ${this.#host} does not report when slots begin (interslot_updates); accounts are polled.`,
      );
    }
    if (now() - this.#aliveAtMs <= this.#silentMs) return;
    this.#stream.close();
    this.#lose("it reports no slots");
  }

  #receive(message: Uint8Array): void {
    try {
      const update = decodeSubscribeUpdate(message);
      if (update.kind === "account") this.#receiveAccount(update);
      else if (update.kind === "slot") this.#receiveSlot(update);
      else if (update.kind === "ping") this.#stream?.answer(encodePing(1));
    } catch (error) {
      this.#options.warn(`Cannot decode an update of the Yellowstone stream of ${this.#host}: ${String(error)}`);
    }
  }

  #receiveAccount({ slot, address, account, writeVersion, bankId }: AccountUpdate): void {
    if (!this.#slots.countUpdate(slot, bankId) || !this.#coverage.addresses.has(address)) return;
    const notice = { address, account, slot, epoch: this.#epoch, order: writeVersion };
    if (this.#replay?.has(slot) === true) this.#replay.keepChange(notice);
    else this.#owner.listener?.onAccount(notice);
  }

  #receiveSlot(update: SlotUpdate): void {
    const { slot, parent, status } = update;
    const { listener } = this.#owner;
    this.#slots.statuses += 1;
    this.#aliveAtMs = this.#options.now();
    if (this.#isFarAhead(slot)) return;
    this.#retryMs = FIRST_RETRY_MS;
    const isNew = !this.#slots.hasBegun(slot);
    if (status === SLOT_STATUS.confirmed) listener?.onConfirmed(slot);
    else if (status === SLOT_STATUS.finalized) listener?.onRoot(slot);
    else if (status === SLOT_STATUS.dead) this.#kill(slot);
    else if (status === SLOT_STATUS.firstShredReceived || status === SLOT_STATUS.createdBank) this.#begin(update);
    if (this.#slots.first === undefined) return;
    if (parent !== undefined && status !== SLOT_STATUS.dead) this.#link(slot, parent);
    if (this.#replay !== undefined) return;
    this.#newest.note(slot, this.#aliveAtMs, isNew && this.#slots.hasBegun(slot));
    if (this.#isLive(update)) this.#liveAtMs = this.#newest.atMs;
  }

  #isLive({ filter }: SlotUpdate): boolean {
    return Number(filter ?? 0) >= this.#liveFrom;
  }

  #kill(slot: bigint): void {
    this.#replay?.drop(slot);
    this.#owner.listener?.onDead(slot);
  }

  #link(slot: bigint, parent: bigint): void {
    const { listener } = this.#owner;
    const replay = this.#replay;
    if (replay?.has(slot) !== true) {
      listener?.onSlot(slot, parent);
      return;
    }
    replay.keepParent(slot, parent);
    // A bank begins once its parent is over.
    this.#countAccounts(replay.pass(parent, this.#slots.updates, listener, this.#coverage.addresses));
  }

  /** True for a slot that no chain has reached: one message must not make all that follow look old. */
  #isFarAhead(slot: bigint): boolean {
    const { headSlot, maxLeadSlots = DEFAULT_MAX_LEAD_SLOTS } = this.#options;
    const known = headSlot?.() ?? 0n;
    return known > 0n && slot > known + maxLeadSlots;
  }

  #begin(update: SlotUpdate): void {
    const { slot, status, bankId, filter } = update;
    if (this.#slots.begin(slot)) {
      this.#checkReplay(slot);
      // Repeated slots are old and would count as current; so would those of a server that is behind the one before.
      if (this.#isLive(update) && slot >= this.#newest.slot) this.#cover(Number(filter ?? 0), slot);
      this.#slots.trim();
    }
    const isNewBank = status === SLOT_STATUS.createdBank && bankId !== undefined;
    if (!isNewBank || !this.#slots.setBank(slot, bankId)) return;
    if (this.#replay?.has(slot) === true) {
      this.#replay.replace(slot);
      return;
    }
    this.#owner.listener?.onReplaced(slot, this.#coverage.addresses);
    this.#countAccounts(this.size);
  }

  #cover(generation: number, fromSlot: bigint): void {
    for (const covered of this.#coverage.takeEffect(generation)) {
      this.#owner.listener?.onCovered(covered, fromSlot);
      this.#countAccounts(covered.length);
    }
  }

  #countAccounts(count: number): void {
    this.#stream?.countWork(count / ACCOUNTS_PER_MESSAGE);
  }

  /** Once the replay has reached a new slot, it is accepted if it held everything received before the cut; else none of it counts. */
  #checkReplay(slot: bigint): void {
    const replay = this.#replay;
    if (replay === undefined || replay.has(slot)) return;
    this.#liveFrom = this.#request();
    const { first, updates } = this.#slots;
    const lack = replay.lack(first!, updates);
    if (lack !== undefined) {
      this.#failReplay(slot, lack);
      return;
    }
    this.#replay = undefined;
    this.#countAccounts(replay.passAll(updates, this.#owner.listener, this.#coverage.addresses));
  }

  /** What was covered is so again from this slot on. */
  #failReplay(slot: bigint, why: string): void {
    this.#replay = undefined;
    this.#options.warn(
      `The Yellowstone stream of ${this.#host} did not replay what was missed (${why}); all accounts are read again.`,
    );
    const { listener } = this.#owner;
    listener?.onUncovered(this.#coverage.covered(), slot);
    listener?.onRestart();
    this.#countAccounts(this.size);
  }
}
