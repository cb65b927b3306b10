import type { Now } from "../primitives/clock.ts";
import { ruleOnExpiry } from "./expiry.ts";
import type { Landing, LandingOrder, TransactionFate } from "./port.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";
import type { RpcPool } from "./rpc-pool.ts";
import { asContext, asList, asRecord } from "./rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "./signature-status.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface LiveLanding extends Landing {
  /** Ends all waiting; what is undecided is pending. */
  close(): void;
}

export interface LandingOptions {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  readonly head: { blockHeight(): bigint; slotMs(): number };
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Spreads re-broadcasts; 0 ≤ value < 1. */
  readonly random?: () => number;
  /** Slots between broadcasts of the same transaction. */
  readonly rebroadcastSlots?: number;
  /** Longest wait for one endpoint to take a broadcast. */
  readonly sendTimeoutMs?: number;
}

const DEFAULT_REBROADCAST_SLOTS = 2;
const DEFAULT_SEND_TIMEOUT_MS = 1_000;
const LEAST_PERIOD_MS = 100;
const MAX_SIGNATURES_PER_CALL = 256;
/** Slots between two attempts to prove an expiry. */
const EXPIRY_CHECK_SLOTS = 4;
/** Reads that may fail to know a signature the subscription has told of before the notice alone is believed. */
const READS_AFTER_NOTICE = 5;

interface Waiter {
  readonly onProcessed: ((slot: bigint) => void) | undefined;
  resolve(fate: TransactionFate): void;
}

/** One transaction on its way, waited for by one caller or several. */
interface Flight {
  readonly signature: string;
  readonly encoded: string;
  readonly lastValidBlockHeight: bigint;
  readonly waiters: Set<Waiter>;
  /** Endpoints that have not yet answered the previous broadcast: they get no second one. */
  readonly sending: Set<RpcEndpoint>;
  /** What the subscription has told, and how many reads since then did not know of it. */
  notice: { readonly slot: bigint; readonly error: unknown | null; unseen: number } | undefined;
  /** Where it was last seen in a block that may still be dropped. */
  processedSlot: bigint | undefined;
  cancelSubscription: () => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Broadcasts to every endpoint in parallel, again and again on its own schedule, and finds out what became of it: by
 * subscription and by polling, whichever comes first. Sending identical bytes more than once is safe: the chain executes
 * a message at most once. No endpoint's refusal of a broadcast decides anything; only blocks do.
 */
export function createLanding({
  pool,
  subscriptions,
  head,
  now,
  warn,
  random = Math.random,
  rebroadcastSlots = DEFAULT_REBROADCAST_SLOTS,
  sendTimeoutMs = DEFAULT_SEND_TIMEOUT_MS,
}: LandingOptions): LiveLanding {
  const { endpoints } = pool;
  const flights = new Map<string, Flight>();
  let pollTimer: NodeJS.Timeout | undefined;
  let polling = false;
  let pollAgain = false;
  let polls = 0;
  let pollFailing = false;
  let ruling = false;
  let nextRulingAtMs = 0;

  function settle(flight: Flight, fate: TransactionFate): void {
    if (flights.get(flight.signature) !== flight) return;
    flights.delete(flight.signature);
    clearTimeout(flight.timer);
    flight.cancelSubscription();
    for (const waiter of flight.waiters) waiter.resolve(fate);
    if (flights.size === 0) clearTimeout(pollTimer);
  }

  function hearStatus(flight: Flight, status: SignatureStatus | null): void {
    const { notice } = flight;
    if (status !== null && status.slot !== flight.processedSlot) {
      flight.processedSlot = status.slot;
      for (const waiter of flight.waiters) waiter.onProcessed?.(status.slot);
    }
    if (status !== null && (status.commitment !== "processed" || notice !== undefined)) {
      // The subscription was for "confirmed"; a node that still says "processed" merely lags.
      const commitment = status.commitment === "processed" ? "confirmed" : status.commitment;
      settle(flight, { kind: "landed", slot: status.slot, error: status.error, commitment });
    } else if (notice !== undefined && ++notice.unseen >= READS_AFTER_NOTICE) {
      settle(flight, { kind: "landed", slot: notice.slot, error: notice.error, commitment: "confirmed" });
    }
  }

  async function send(flight: Flight, endpoint: RpcEndpoint): Promise<void> {
    if (flight.sending.has(endpoint)) return;
    flight.sending.add(endpoint);
    try {
      await endpoint.call(
        "sendTransaction",
        [flight.encoded, { encoding: "base64", skipPreflight: true, maxRetries: 0 }],
        sendTimeoutMs,
      );
    } catch {
      // Not final, whatever it says: the same bytes may land through another endpoint, or have landed already.
    } finally {
      flight.sending.delete(endpoint);
    }
  }

  function broadcast(flight: Flight, to: readonly RpcEndpoint[]): void {
    if (head.blockHeight() > flight.lastValidBlockHeight) return;
    for (const endpoint of to) void send(flight, endpoint);
    flight.timer = setTimeout(
      () => {
        const ready = endpoints.filter((endpoint) => !endpoint.isCooling());
        broadcast(flight, ready.length === 0 ? endpoints : ready);
      },
      Math.max(LEAST_PERIOD_MS, rebroadcastSlots * head.slotMs()) * (0.75 + random() / 2),
    );
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

  async function rule(): Promise<void> {
    const overdue = [...flights.values()]
      .filter(({ lastValidBlockHeight }) => head.blockHeight() > lastValidBlockHeight)
      .slice(0, MAX_SIGNATURES_PER_CALL);
    if (ruling || overdue.length === 0) return;
    ruling = true;
    nextRulingAtMs = now() + EXPIRY_CHECK_SLOTS * head.slotMs();
    const rulings = await ruleOnExpiry(endpoints, overdue);
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
      lastValidBlockHeight: order.lastValidBlockHeight,
      waiters: new Set(),
      sending: new Set(),
      notice: undefined,
      processedSlot: undefined,
      cancelSubscription: () => {},
      timer: undefined,
    };
    flights.set(order.signature, flight);
    broadcast(flight, endpoints);
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
          onProcessed: order.onProcessed,
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
        if (flight.processedSlot !== undefined) waiter.onProcessed?.(flight.processedSlot);
      });
    },
    async fetchCommitment(signature) {
      const result = await pool.read("getSignatureStatuses", [[signature], { searchTransactionHistory: true }], {
        isLacking: (answer) => firstStatus(answer) === null,
      });
      return firstStatus(result)?.commitment;
    },
    close() {
      for (const flight of [...flights.values()]) settle(flight, { kind: "pending" });
      clearTimeout(pollTimer);
    },
  };
}

function firstStatus(result: unknown): SignatureStatus | null {
  return decodeStatus(asList(asContext(result, "signature statuses").value, "signature statuses")[0]);
}
