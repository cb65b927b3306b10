import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { AccountFeed, FeedListener } from "../state/account-feed.ts";
import { createStateSource, type LiveStateSource, type StateSourceOptions } from "../state/state-source.ts";
import { type GrpcStream, openGrpcStream } from "./grpc-stream.ts";
import {
  type AccountUpdate,
  decodeSubscribeUpdate,
  encodePing,
  encodeSubscribeRequest,
  SLOT_STATUS,
  type SlotUpdate,
} from "./yellowstone-wire.ts";

interface YellowstoneOptions {
  /** Scheme, host and port: `https://…` or `http://…`. */
  readonly url: string;
  /** Sent as `x-token`. */
  readonly token: string | undefined;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Accounts of one stream at most: each new account sends the whole list of its stream again. */
  readonly accountsPerStream?: number;
  /** A stream that tells of no slot for this long is dead, whatever the connection says. */
  readonly silentMs?: number;
  /** How far back a stream asks to be repeated after it was cut. */
  readonly replaySlots?: bigint;
}

export interface YellowstoneStateSourceOptions
  extends YellowstoneOptions,
    Omit<StateSourceOptions, "feed" | "now" | "warn"> {}

const DEFAULT_ACCOUNTS_PER_STREAM = 5_000;
const DEFAULT_SILENT_MS = 3_000;
const DEFAULT_REPLAY_SLOTS = 32n;
/** Accounts asked for within this time are asked for together. */
const GATHER_MS = 10;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** Reads only look after this stream, they do not carry it: all accounts once in this time. */
const DEFAULT_REFRESH_MS = 300_000;
const DEFAULT_VERIFY_MS = 5_000;
const KEPT_COUNTS = 128;
/** Slot statuses after which one of a slot's beginning should have been among them. */
const MUTE_STATUSES = 30;

/** Follows accounts by the Yellowstone gRPC stream of a node. */
export function createYellowstoneStateSource(options: YellowstoneStateSourceOptions): LiveStateSource {
  return createStateSource({
    refreshMs: DEFAULT_REFRESH_MS,
    verifyMs: DEFAULT_VERIFY_MS,
    ...options,
    feed: createYellowstoneFeed(options),
  });
}

/** As many streams as the accounts need. */
function createYellowstoneFeed(options: YellowstoneOptions): AccountFeed {
  const { accountsPerStream = DEFAULT_ACCOUNTS_PER_STREAM } = options;
  const streamOf = new Map<Address, FeedStream>();
  const streams: FeedStream[] = [];
  let listener: FeedListener | undefined;
  let epoch = 0;

  function add(): FeedStream {
    const stream = createFeedStream({ ...options, listener: () => listener, nextEpoch: () => ++epoch });
    streams.push(stream);
    return stream;
  }
  add();

  return {
    listen(heard) {
      listener = heard;
    },
    follow(addresses) {
      for (const address of addresses) {
        const stream = streams.find(({ size }) => size() < accountsPerStream) ?? add();
        streamOf.set(address, stream);
        stream.follow(address);
      }
    },
    unfollow(addresses) {
      for (const address of addresses) {
        streamOf.get(address)?.unfollow(address);
        streamOf.delete(address);
      }
    },
    liveAtMs: (address) => streamOf.get(address)?.liveAtMs() ?? 0,
    leastLiveAtMs: () =>
      streams.reduce((least, stream) => Math.min(least, stream.liveAtMs()), Number.POSITIVE_INFINITY),
    // A read knows no write version: whatever the stream tells of the same slot counts for more, and soon follows.
    readStamp: () => ({ epoch: -1, order: 0 }),
    // There is one server; what it lost is read.
    doubt() {},
    close() {
      for (const stream of streams) stream.close();
    },
  };
}

interface FeedStream {
  follow(address: Address): void;
  unfollow(address: Address): void;
  size(): number;
  liveAtMs(): number;
  close(): void;
}

/** Accounts that have been asked for and are not known to be covered yet. */
interface Asked {
  readonly generation: number;
  readonly addresses: readonly Address[];
}

/**
 * One stream and its accounts, over as many connections as it takes.
 *
 * A request carries a number in the name of its filters, and updates carry the names of the filters that let them through: the
 * first slot that begins under the number is the first that is told of completely for the accounts of that request. What comes
 * of slots begun before is only partly seen, and left to the reads.
 *
 * After a cut the stream is asked to repeat from some slots back, and what is repeated is checked: it must begin no later than
 * the slot that was under way, and hold at least what was heard of each slot before. Otherwise everything counts as missed.
 */
function createFeedStream({
  url,
  token,
  now,
  warn,
  silentMs = DEFAULT_SILENT_MS,
  replaySlots = DEFAULT_REPLAY_SLOTS,
  listener,
  nextEpoch,
}: YellowstoneOptions & {
  readonly listener: () => FeedListener | undefined;
  readonly nextEpoch: () => number;
}): FeedStream {
  const addresses = new Set<Address>();
  let fresh: Address[] = [];
  let asked: Asked[] = [];
  let generation = 0;
  let gathering: NodeJS.Timeout | undefined;
  let stream: GrpcStream | undefined;
  let epoch = 0;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | undefined;
  let canReplay = true;
  let closed = false;
  /** The newest slot begun, over all connections. */
  let newestSlot = 0n;
  let liveAtMs = 0;
  let aliveAtMs = 0;
  /** Of the present connection: the first slot seen from its beginning, and the banks of slots. */
  let firstSlot: bigint | undefined;
  let statusesHeard = 0;
  let begun = new Set<bigint>();
  let banks = new Map<bigint, bigint>();
  /** How many account updates came of each of the newest slots. */
  let heard = new Map<bigint, number>();
  /** While a repetition is under way: from where, up to where, and what was heard of those slots before. */
  let replay: { readonly upTo: bigint; readonly heard: ReadonlyMap<bigint, number> } | undefined;

  const host = new URL(url).host;

  function request(fromSlot?: bigint): void {
    clearTimeout(gathering);
    gathering = undefined;
    generation += 1;
    asked.push({ generation, addresses: fresh });
    fresh = [];
    stream?.send(encodeSubscribeRequest({ name: String(generation), accounts: addresses, fromSlot }));
  }

  function gather(): void {
    if (stream === undefined) return;
    gathering ??= setTimeout(request, GATHER_MS);
  }

  function connect(): void {
    epoch = nextEpoch();
    aliveAtMs = now();
    firstSlot = undefined;
    statusesHeard = 0;
    begun = new Set();
    banks = new Map();
    const fromSlot = canReplay && newestSlot > replaySlots ? newestSlot - replaySlots : undefined;
    replay = fromSlot === undefined ? undefined : { upTo: newestSlot, heard };
    if (replay === undefined) miss();
    heard = new Map();
    const opened = openGrpcStream({
      url,
      path: "/geyser.Geyser/Subscribe",
      headers: token === undefined ? {} : { "x-token": token },
      onMessage(message) {
        if (stream !== opened) return;
        try {
          hear(message);
        } catch (error) {
          warn(`The Yellowstone stream of ${host} sent an update that cannot be read: ${String(error)}`);
        }
      },
      onEnd(reason) {
        if (stream === opened) lose(reason);
      },
    });
    stream = opened;
    asked = [];
    request(fromSlot);
  }

  function lose(reason: string): void {
    stream = undefined;
    clearTimeout(gathering);
    gathering = undefined;
    // What was still to be covered starts over with all the others.
    fresh = [...new Set([...fresh, ...asked.flatMap((one) => one.addresses)])];
    asked = [];
    if (closed) return;
    if (replay !== undefined && firstSlot === undefined && reason.startsWith("gRPC status")) canReplay = false;
    warn(`The Yellowstone stream of ${host} is gone (${reason}); connecting again.`);
    retryTimer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  }

  /** Everything may have changed unheard: it is covered again from the next slot that begins. */
  function miss(): void {
    listener()?.onUncovered([...addresses]);
    listener()?.onRestart();
    fresh = [...addresses];
  }

  function hear(message: Uint8Array): void {
    const update = decodeSubscribeUpdate(message);
    if (update.kind === "account") hearAccount(update);
    else if (update.kind === "slot") hearSlot(update);
    else if (update.kind === "ping") stream?.send(encodePing(1));
  }

  function hearAccount({ slot, address, account, writeVersion, bankId }: AccountUpdate): void {
    if (firstSlot === undefined || slot < firstSlot) return;
    const bank = banks.get(slot);
    if (bank !== undefined && bankId !== undefined && bank !== bankId) return;
    heard.set(slot, (heard.get(slot) ?? 0) + 1);
    if (!addresses.has(address)) return;
    listener()?.onAccount({ address, account, slot, epoch, order: writeVersion });
  }

  function hearSlot({ filters, slot, parent, status, bankId }: SlotUpdate): void {
    const to = listener();
    statusesHeard += 1;
    aliveAtMs = now();
    retryMs = FIRST_RETRY_MS;
    if (status === SLOT_STATUS.confirmed) to?.onConfirmed(slot);
    else if (status === SLOT_STATUS.finalized) to?.onRoot(slot);
    else if (status === SLOT_STATUS.dead) to?.onDead(slot);
    else if (status === SLOT_STATUS.firstShredReceived || status === SLOT_STATUS.createdBank) {
      begin(slot, Number(filters[0] ?? 0));
      if (status === SLOT_STATUS.createdBank && bankId !== undefined) {
        const known = banks.get(slot);
        banks.set(slot, bankId);
        if (known !== undefined && known !== bankId) to?.onReplaced(slot, addresses);
      }
    }
    if (parent !== undefined && status !== SLOT_STATUS.dead && firstSlot !== undefined) to?.onSlot(slot, parent);
    if (slot >= newestSlot && firstSlot !== undefined && replay === undefined) {
      newestSlot = slot;
      liveAtMs = aliveAtMs;
    }
  }

  /** The slot is seen from its beginning, if it was not begun before this connection. */
  function begin(slot: bigint, underGeneration: number): void {
    if (begun.has(slot)) return;
    begun.add(slot);
    if (firstSlot === undefined) {
      firstSlot = slot;
      if (replay !== undefined && slot > replay.upTo) failReplay("it begins too late");
    }
    if (replay !== undefined && slot > replay.upTo) checkReplay(replay);
    while (asked[0] !== undefined && asked[0].generation <= underGeneration) {
      const { addresses: covered } = asked.shift()!;
      if (covered.length > 0) listener()?.onCovered(covered, slot);
    }
    if (begun.size > KEPT_COUNTS) begun.delete(begun.values().next().value!);
    if (heard.size > KEPT_COUNTS) heard.delete(heard.keys().next().value!);
    if (banks.size > KEPT_COUNTS) banks.delete(banks.keys().next().value!);
  }

  /** The repetition has reached what is new: it is believed when it held all that was heard before. */
  function checkReplay({ upTo, heard: before }: NonNullable<typeof replay>): void {
    for (const [slot, count] of before) {
      if (slot > firstSlot! && slot <= upTo && (heard.get(slot) ?? 0) < count) {
        failReplay(`it lacks updates of slot ${slot}`);
        return;
      }
    }
    replay = undefined;
  }

  function failReplay(why: string): void {
    replay = undefined;
    warn(`The Yellowstone stream of ${host} did not repeat what was missed (${why}); everything is read again.`);
    const uncovered = [...addresses].filter((address) => !asked.some((one) => one.addresses.includes(address)));
    listener()?.onUncovered(uncovered);
    listener()?.onRestart();
    asked.unshift({ generation: 0, addresses: uncovered });
  }

  let isMute = false;
  const watch = setInterval(() => {
    if (stream === undefined) return;
    if (!isMute && firstSlot === undefined && statusesHeard > MUTE_STATUSES) {
      isMute = true;
      warn(`The Yellowstone server ${host} does not tell when slots begin (interslot_updates); accounts are polled.`);
    }
    if (now() - aliveAtMs <= silentMs) return;
    stream.close();
    lose("it tells of no slots");
  }, silentMs / 4);
  connect();

  return {
    follow(address) {
      addresses.add(address);
      fresh.push(address);
      gather();
    },
    unfollow(address) {
      addresses.delete(address);
      gather();
    },
    size: () => addresses.size,
    liveAtMs: () => liveAtMs,
    close() {
      closed = true;
      clearInterval(watch);
      clearTimeout(gathering);
      clearTimeout(retryTimer);
      stream?.close();
      stream = undefined;
    },
  };
}
