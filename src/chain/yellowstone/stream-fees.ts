import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { pricesOf, type Trims } from "../fees/fee-samples.ts";
import type { FeeReading, FeeSource } from "../fees/fee-sources.ts";
import { type GrpcStream, openGrpcStream } from "./grpc-stream.ts";
import { NewestReported } from "./newest-reported.ts";
import { decodeTransactionPrice } from "./transaction-price.ts";
import { fieldsOf, messageIn, numberIn } from "./wire-fields.ts";

/** Prices of priority from a stream, until closed. */
export interface StreamFees extends FeeSource {
  close(): void;
}

interface StreamFeesOptions {
  /** The Yellowstone server, and the token it asks for. */
  readonly url: string;
  readonly token: string | undefined;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly trims: Trims;
}

/** An account whose transactions are followed. Times are epoch milliseconds. */
interface PricedAccount {
  readonly paid: { readonly slot: bigint; readonly price: bigint }[];
  askedAtMs: number;
  /** Since when the stream includes its transactions; undefined while it does not. */
  followedSinceMs: number | undefined;
}

/** Upper bound of accounts whose transactions are followed. */
const MAX_ACCOUNTS = 256;
/** Prices paid longer ago are ignored. */
const RECENT_SLOTS = 150n;
const MAX_SAMPLES = 512;
/** How long an account is followed before its silence means that nobody pays. Milliseconds. */
const OBSERVED_MS = 10_000;
/** Silence after which the stream is considered stale. Milliseconds. */
const SILENT_MS = 5_000;
const SUBSCRIBE_AFTER_MS = 250;
const RETRY_MS = 2_000;
const FILTER = "fees";
const COMMITMENT_PROCESSED = 0;
const SLOT_UPDATE = 3;

/**
 * Prices of writable accounts from their transactions on a Yellowstone stream: every price paid, not just the lowest of each
 * slot. Prices of the whole chain are left to other sources: its transactions would be too many.
 */
export function createStreamFees(options: StreamFeesOptions): StreamFees {
  return new YellowstoneFees(options);
}

class YellowstoneFees implements StreamFees {
  readonly #options: StreamFeesOptions;
  readonly #accounts = new Map<Address, PricedAccount>();
  #stream: GrpcStream | undefined;
  readonly #newest = new NewestReported();
  #slotAtMs = 0;
  #subscribeTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: StreamFeesOptions) {
    this.#options = options;
    this.#connect();
  }

  async read(writable: readonly Address[]): Promise<FeeReading | undefined> {
    const { now, trims } = this.#options;
    const [address] = writable;
    if (address === undefined || writable.length > 1) return undefined;
    const account = this.#accounts.get(address);
    if (account === undefined) {
      this.#follow(address);
      return undefined;
    }
    const atMs = now();
    account.askedAtMs = atMs;
    const isLive = atMs - this.#slotAtMs < SILENT_MS;
    const { followedSinceMs } = account;
    if (!isLive || followedSinceMs === undefined || atMs - followedSinceMs < OBSERVED_MS) return undefined;
    const newest = this.#newest.slot;
    const recent = account.paid.filter(({ slot }) => slot <= newest && slot + RECENT_SLOTS >= newest);
    const samples = recent.map(({ price }) => price);
    return { prices: pricesOf(samples, trims), samples };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#subscribeTimer);
    clearTimeout(this.#retryTimer);
    this.#stream?.close();
  }

  #connect(): void {
    const { url, token } = this.#options;
    this.#stream = openGrpcStream({
      url,
      path: "/geyser.Geyser/Subscribe",
      headers: token === undefined ? {} : { "x-token": token },
      onMessage: (bytes) => this.#receive(bytes),
      onEnd: (reason) => this.#lose(reason),
    });
    this.#subscribe();
  }

  #lose(reason: string): void {
    for (const account of this.#accounts.values()) account.followedSinceMs = undefined;
    this.#stream = undefined;
    if (this.#isClosed) return;
    if (!this.#isFailing)
      this.#options.warn(`The stream of fees is lost; prices come from the nodes until it is back: ${reason}`);
    this.#isFailing = true;
    this.#retryTimer = setTimeout(() => this.#connect(), RETRY_MS);
  }

  #subscribe(): void {
    this.#subscribeTimer = undefined;
    if (this.#stream === undefined || this.#accounts.size === 0) return;
    this.#stream.send(encodeRequest(this.#accounts.keys()));
    for (const account of this.#accounts.values()) account.followedSinceMs ??= this.#options.now();
  }

  #receive(bytes: Uint8Array): void {
    const transaction = decodeTransactionPrice(bytes);
    const slot = transaction?.slot ?? slotOf(bytes);
    if (slot === undefined) return;
    this.#slotAtMs = this.#options.now();
    this.#isFailing = false;
    // Statuses of slightly older slots arrive too.
    this.#newest.note(slot, this.#slotAtMs, slot + RECENT_SLOTS < this.#newest.slot);
    if (transaction === undefined) return;
    for (const address of transaction.writable) {
      const account = this.#accounts.get(address);
      if (account === undefined) continue;
      account.paid.push({ slot, price: transaction.price });
      if (account.paid.length > MAX_SAMPLES) account.paid.shift();
    }
  }

  /** Follows the account, in place of the one not asked about for longest if there are too many. */
  #follow(address: Address): void {
    if (this.#accounts.size >= MAX_ACCOUNTS) {
      const [oldest] = [...this.#accounts].reduce((a, b) => (a[1].askedAtMs <= b[1].askedAtMs ? a : b));
      this.#accounts.delete(oldest);
    }
    this.#accounts.set(address, { paid: [], askedAtMs: this.#options.now(), followedSinceMs: undefined });
    this.#subscribeTimer ??= setTimeout(() => this.#subscribe(), SUBSCRIBE_AFTER_MS);
  }
}

/** Subscribes to the accounts' transactions without votes, and to slots, which show that the stream is alive. */
function encodeRequest(accounts: Iterable<Address>): Uint8Array {
  const filter = new BinaryWriter().tag(1, 0).bool(false);
  for (const address of accounts) filter.tag(3, 2).string(address.toString());
  return new BinaryWriter()
    .tag(2, 2)
    .fork()
    .tag(1, 2)
    .string(FILTER)
    .tag(2, 2)
    .bytes(new Uint8Array(0))
    .join()
    .tag(3, 2)
    .fork()
    .tag(1, 2)
    .string(FILTER)
    .tag(2, 2)
    .bytes(filter.finish())
    .join()
    .tag(6, 0)
    .int32(COMMITMENT_PROCESSED)
    .finish();
}

/** The slot of a slot update; undefined for any other update. */
function slotOf(bytes: Uint8Array): bigint | undefined {
  const update = messageIn(fieldsOf(bytes), SLOT_UPDATE);
  return update.size === 0 ? undefined : BigInt(numberIn(update, 1));
}
