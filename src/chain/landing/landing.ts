import type { Now } from "../../primitives/clock.ts";
import type { Landing, LandingEvent, LandingOrder, LandingOutcome } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asList, asRecord } from "../rpc/rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "../rpc/signature-status.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import { ruleOnExpiry } from "./expiry.ts";
import { recentBlockhash } from "./recent-blockhash.ts";
import type { Sender } from "./sender.ts";

export interface LiveLanding extends Landing {
  /** For metrics: transactions on their way, broadcasts after the first of each sender, and those left out for want of turns. */
  counts(): { readonly underWay: number; readonly repeated: number; readonly shed: number };
  /** Ends all waiting; what is undecided is pending. */
  close(): void;
}

interface LandingOptions {
  readonly pool: RpcPool;
  readonly senders: readonly Sender[];
  readonly subscriptions: Subscriptions;
  readonly head: { blockHeight(): bigint; slot(): bigint; slotMs(): number };
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Spreads re-broadcasts; 0 ≤ value < 1. */
  readonly random?: () => number;
  /** Slots between broadcasts of the same transaction. */
  readonly rebroadcastSlots?: number;
}

const DEFAULT_REBROADCAST_SLOTS = 2;
const LEAST_PERIOD_MS = 100;
/** Blocks in which a message can land, counted back from its last valid one; and how far heights are estimated wrong at most. */
const LIFE_BLOCKS = 151n;
const HEIGHT_TOLERANCE = 40n;
/** How often it is looked which transactions are due to be sent again. */
const RETRY_TICK_MS = 25;
const MAX_SIGNATURES_PER_CALL = 256;
/** Slots between two attempts to prove an expiry. */
const EXPIRY_CHECK_SLOTS = 4;
/** Reads that may fail to know a signature the subscription has told of before the notice alone is believed. */
const READS_AFTER_NOTICE = 5;

interface Waiter {
  readonly onEvent: ((event: LandingEvent) => void) | undefined;
  resolve(fate: LandingOutcome): void;
}

/** One transaction on its way, waited for by one caller or several. */
interface Flight {
  readonly signature: string;
  readonly encoded: string;
  readonly blockhash: string | undefined;
  readonly lastValidBlockHeight: bigint;
  readonly waiters: Set<Waiter>;
  readonly senders: readonly Sender[];
  /** Senders that have not yet answered the previous broadcast: they get no second one. */
  readonly sending: Set<Sender>;
  /** Senders that took it, and those that have refused it. */
  readonly taken: Set<Sender>;
  readonly refused: Set<Sender>;
  /** What a waiter that comes later is told first. */
  readonly events: LandingEvent[];
  /** Broadcasts after the first, and when the next is due (monotonic milliseconds). */
  retries: number;
  retryAtMs: number;
  /** What the subscription has told, and how many reads since then did not know of it. */
  notice: { readonly slot: bigint; readonly error: unknown | null; unseen: number } | undefined;
  /** Where it was last seen in a block that may still be dropped. */
  processedSlot: bigint | undefined;
  cancelSubscription: () => void;
}

/**
 * Broadcasts on every sender allowed in parallel, again and again on its own schedule, and finds out what became of it: by
 * subscription and by polling, whichever comes first. Sending identical bytes more than once is safe: the chain executes
 * a message at most once. No sender's refusal of a broadcast decides anything; only blocks do. When there is more to send than
 * the senders take, what has been sent most often waits.
 */
export function createLanding({
  pool,
  senders,
  subscriptions,
  head,
  now,
  warn,
  random = Math.random,
  rebroadcastSlots = DEFAULT_REBROADCAST_SLOTS,
}: LandingOptions): LiveLanding {
  const { endpoints } = pool;
  const flights = new Map<string, Flight>();
  let retryTimer: NodeJS.Timeout | undefined;
  let shedding = false;
  let pollTimer: NodeJS.Timeout | undefined;
  let polling = false;
  let pollAgain = false;
  let polls = 0;
  let pollFailing = false;
  let ruling = false;
  const refusalsTold = new Set<string>();
  let nextRulingAtMs = 0;
  let repeatedInAll = 0;
  let shedInAll = 0;

  function settle(flight: Flight, fate: LandingOutcome): void {
    if (flights.get(flight.signature) !== flight) return;
    flights.delete(flight.signature);
    flight.cancelSubscription();
    for (const waiter of flight.waiters) waiter.resolve(fate);
    if (flights.size > 0) return;
    clearTimeout(pollTimer);
    clearInterval(retryTimer);
    retryTimer = undefined;
  }

  function tell(flight: Flight, event: LandingEvent): void {
    flight.events.push(event);
    for (const waiter of flight.waiters) waiter.onEvent?.(event);
  }

  /** False where the chain cannot have it: outside the message's life, or ahead of every block there is. */
  function isCredible(lastValidBlockHeight: bigint, status: SignatureStatus): boolean {
    const height = status.slot - (head.slot() - head.blockHeight());
    return (
      height <= lastValidBlockHeight + HEIGHT_TOLERANCE &&
      height >= lastValidBlockHeight - LIFE_BLOCKS - HEIGHT_TOLERANCE &&
      status.slot <= head.slot() + HEIGHT_TOLERANCE
    );
  }

  function hearStatus(flight: Flight, told: SignatureStatus | null): void {
    const { notice } = flight;
    const status = told !== null && isCredible(flight.lastValidBlockHeight, told) ? told : null;
    if (status !== null && status.slot !== flight.processedSlot) {
      flight.processedSlot = status.slot;
      tell(flight, { kind: "processed", slot: status.slot });
    }
    if (status !== null && (status.commitment !== "processed" || notice !== undefined)) {
      // The subscription was for "confirmed"; a node that still says "processed" merely lags.
      const commitment = status.commitment === "processed" ? "confirmed" : status.commitment;
      settle(flight, { kind: "landed", slot: status.slot, error: status.error, commitment });
    } else if (notice !== undefined && ++notice.unseen >= READS_AFTER_NOTICE) {
      settle(flight, { kind: "landed", slot: notice.slot, error: notice.error, commitment: "confirmed" });
    }
  }

  async function send(flight: Flight, sender: Sender): Promise<void> {
    flight.sending.add(sender);
    try {
      await sender.send(flight.encoded);
      if (!flight.taken.has(sender)) {
        flight.taken.add(sender);
        tell(flight, { kind: "sent", sender: sender.name });
      }
    } catch (error) {
      // Not final, whatever it says: the same bytes may land on another sender, or have landed already.
      if (!flight.refused.has(sender)) {
        flight.refused.add(sender);
        tell(flight, { kind: "refused", sender: sender.name, reason: refusalOf(error) });
      }
    } finally {
      flight.sending.delete(sender);
    }
  }

  const canLand = (flight: Flight) => head.blockHeight() <= flight.lastValidBlockHeight;

  function scheduleRetry(flight: Flight): void {
    const periodMs = Math.max(LEAST_PERIOD_MS, rebroadcastSlots * head.slotMs());
    flight.retryAtMs = performance.now() + periodMs * (0.75 + random() / 2);
  }

  function retryDue(): void {
    const atMs = performance.now();
    const due = [...flights.values()].filter((flight) => flight.retryAtMs <= atMs && canLand(flight));
    let shed = 0;
    for (const flight of due.sort((a, b) => a.retries - b.retries)) {
      flight.retries += 1;
      scheduleRetry(flight);
      const ready = flight.senders.filter((sender) => !sender.isCooling());
      for (const sender of ready.length === 0 ? flight.senders : ready) {
        if (flight.sending.has(sender) || (sender.repeats && flight.taken.has(sender))) continue;
        if (sender.takeTurn()) {
          repeatedInAll += 1;
          void send(flight, sender);
        } else shed += 1;
      }
    }
    if (shed > 0 && !shedding) warn("More to send again than the senders take: what was sent most often waits.");
    if (due.length > 0) shedding = shed > 0;
    shedInAll += shed;
  }

  /** Asks for the status of everything on its way, in as few calls as possible; a different endpoint first each time. */
  async function poll(): Promise<void> {
    if (polling) {
      pollAgain = true;
      return;
    }
    clearTimeout(pollTimer);
    polling = true;
    pollAgain = false;
    polls += 1;
    const all = [...flights.values()];
    const chunks: Flight[][] = [];
    for (let at = 0; at < all.length; at += MAX_SIGNATURES_PER_CALL)
      chunks.push(all.slice(at, at + MAX_SIGNATURES_PER_CALL));
    await Promise.all(chunks.map(pollChunk));
    polling = false;
    if (now() >= nextRulingAtMs) void rule();
    if (flights.size === 0) return;
    if (pollAgain) void poll();
    else pollTimer = setTimeout(() => void poll(), Math.max(LEAST_PERIOD_MS, head.slotMs()));
  }

  async function pollChunk(chunk: readonly Flight[]): Promise<void> {
    // Nodes remember the last few hundred slots; what may be older must be searched for.
    const searchTransactionHistory = chunk.some((flight) => head.blockHeight() > flight.lastValidBlockHeight);
    try {
      const { value } = asContext(
        await pool.read(
          "getSignatureStatuses",
          [chunk.map(({ signature }) => signature), { searchTransactionHistory }],
          { startAt: polls },
        ),
        "signature statuses",
      );
      const statuses = asList(value, "signature statuses");
      chunk.forEach((flight, i) => {
        hearStatus(flight, decodeStatus(statuses[i]));
      });
      pollFailing = false;
    } catch (error) {
      if (!pollFailing) warn(`Cannot read signature statuses; subscriptions may still tell: ${String(error)}`);
      pollFailing = true;
      for (const flight of chunk) hearStatus(flight, null);
    }
  }

  /** Once for each endpoint and question. */
  function tellRefusal(endpoint: string, method: string): void {
    const what = `The Solana node ${endpoint} does not serve ${method}`;
    if (!refusalsTold.has(what)) warn(`${what}: it has no say in proving that a transaction has expired.`);
    refusalsTold.add(what);
  }

  async function rule(): Promise<void> {
    const overdue = [...flights.values()]
      .filter(({ lastValidBlockHeight }) => head.blockHeight() > lastValidBlockHeight)
      .slice(0, MAX_SIGNATURES_PER_CALL);
    if (ruling || overdue.length === 0) return;
    ruling = true;
    nextRulingAtMs = now() + EXPIRY_CHECK_SLOTS * head.slotMs();
    const rulings = await ruleOnExpiry(endpoints, overdue, tellRefusal);
    ruling = false;
    for (const flight of overdue) {
      const one = rulings.get(flight.signature);
      if (one?.kind === "seen") hearStatus(flight, one.status);
      else if (one?.kind === "expired") settle(flight, { kind: "expired" });
    }
  }

  function takeOff(order: LandingOrder): Flight {
    const flight: Flight = {
      signature: order.signature,
      encoded: Buffer.from(order.transaction).toString("base64"),
      blockhash: recentBlockhash(order.transaction),
      lastValidBlockHeight: order.lastValidBlockHeight,
      waiters: new Set(),
      senders: senders.filter(({ allowedAs }) => order.senders.includes(allowedAs)),
      sending: new Set(),
      taken: new Set(),
      refused: new Set(),
      events: [],
      retries: 0,
      retryAtMs: 0,
      notice: undefined,
      processedSlot: undefined,
      cancelSubscription: () => {},
    };
    flights.set(order.signature, flight);
    scheduleRetry(flight);
    retryTimer ??= setInterval(retryDue, RETRY_TICK_MS);
    if (canLand(flight)) {
      for (const sender of flight.senders) {
        // The first time counts as a turn, and is taken whether there is one or not.
        sender.takeTurn();
        void send(flight, sender);
      }
    }
    flight.cancelSubscription = subscriptions.subscribe({
      kind: "signature",
      params: [order.signature, { commitment: "confirmed" }],
      onNotice(result) {
        const { slot, value } = asContext(result, "a signature notice");
        if (value === "receivedSignature") return;
        // The notice's slot may be a later one than the transaction's: the status tells the right one.
        flight.notice = { slot, error: asRecord(value, "a signature notice").err ?? null, unseen: 0 };
        void poll();
      },
    });
    void poll();
    return flight;
  }

  return {
    land(order) {
      return new Promise((resolve) => {
        const flight = flights.get(order.signature) ?? takeOff(order);
        const waiter: Waiter = {
          onEvent: order.onEvent,
          resolve(fate) {
            clearTimeout(deadline);
            resolve(fate);
          },
        };
        const deadline = setTimeout(
          () => {
            flight.waiters.delete(waiter);
            if (flight.waiters.size === 0) settle(flight, { kind: "pending" });
            resolve({ kind: "pending" });
          },
          Math.max(0, order.deadlineMs - now()),
        );
        flight.waiters.add(waiter);
        for (const event of flight.events) waiter.onEvent?.(event);
      });
    },
    async fetchProgress(signature, lastValidBlockHeight) {
      const believed = (answer: unknown): SignatureStatus | undefined => {
        const status = firstStatus(answer);
        const isBelieved =
          status !== null && (lastValidBlockHeight === undefined || isCredible(lastValidBlockHeight, status));
        return isBelieved ? status : undefined;
      };
      const result = await pool.read("getSignatureStatuses", [[signature], { searchTransactionHistory: true }], {
        isLacking: (answer) => believed(answer) === undefined,
      });
      return believed(result);
    },
    counts: () => ({ underWay: flights.size, repeated: repeatedInAll, shed: shedInAll }),
    close() {
      for (const flight of [...flights.values()]) settle(flight, { kind: "pending" });
      clearTimeout(pollTimer);
      clearInterval(retryTimer);
    },
  };
}

function refusalOf(error: unknown): string {
  return error instanceof NodeError ? error.kind : "failed";
}

function firstStatus(result: unknown): SignatureStatus | null {
  return decodeStatus(asList(asContext(result, "signature statuses").value, "signature statuses")[0]);
}
