import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { pricesOf, type Trims } from "../fees/fee-samples.ts";
import type { FeeSource } from "../fees/fee-sources.ts";
import { type GrpcStream, openGrpcStream } from "./grpc-stream.ts";
import { decodeTransactionPrice } from "./transaction-price.ts";
import { fieldsOf, messageIn, numberIn } from "./wire-fields.ts";

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
  /** Accounts whose transactions are listened to, at most. */
  readonly maxAccounts?: number;
}

interface Followed {
  readonly paid: { readonly slot: bigint; readonly price: bigint }[];
  askedAtMs: number;
  /** Since when the stream lets its transactions through; undefined: not yet. */
  followedSinceMs: number | undefined;
}

const DEFAULT_MAX_ACCOUNTS = 256;
/** What was paid longer ago says nothing about now. */
const RECENT_SLOTS = 150n;
const MOST_SAMPLES = 512;
/** An account has been listened to for this long before its silence means that nobody pays. */
const LISTENED_MS = 10_000;
/** Without a slot for this long the stream is not believed. */
const SILENT_MS = 5_000;
const SUBSCRIBE_AFTER_MS = 250;
const RETRY_MS = 2_000;
const FILTER = "fees";
const COMMITMENT_PROCESSED = 0;
const SLOT_UPDATE = 3;

/**
 * Prices of the accounts written to, from the transactions themselves as a Yellowstone stream tells them: every price that
 * was paid, not each slot's least. What the whole chain pays is left to other sources: all of its transactions would be too many.
 */
export function createStreamFees({
  url,
  token,
  now,
  warn,
  trims,
  maxAccounts = DEFAULT_MAX_ACCOUNTS,
}: StreamFeesOptions): StreamFees {
  const followed = new Map<Address, Followed>();
  let stream: GrpcStream | undefined;
  let newestSlot = 0n;
  let slotAtMs = 0;
  let subscribing: NodeJS.Timeout | undefined;
  let retrying: NodeJS.Timeout | undefined;
  let failing = false;
  let closed = false;

  function connect(): void {
    stream = openGrpcStream({
      url,
      path: "/geyser.Geyser/Subscribe",
      headers: token === undefined ? {} : { "x-token": token },
      onMessage: hear,
      onEnd(reason) {
        for (const one of followed.values()) one.followedSinceMs = undefined;
        stream = undefined;
        if (closed) return;
        if (!failing) warn(`The stream of fees is gone; prices come from the nodes until it is back: ${reason}`);
        failing = true;
        retrying = setTimeout(connect, RETRY_MS);
      },
    });
    subscribe();
  }

  function subscribe(): void {
    subscribing = undefined;
    if (stream === undefined || followed.size === 0) return;
    stream.send(encodeRequest(followed.keys()));
    for (const one of followed.values()) one.followedSinceMs ??= now();
  }

  function hear(bytes: Uint8Array): void {
    const transaction = decodeTransactionPrice(bytes);
    const slot = transaction?.slot ?? slotOf(bytes);
    if (slot === undefined) return;
    slotAtMs = now();
    failing = false;
    if (slot > newestSlot) newestSlot = slot;
    if (transaction === undefined) return;
    for (const address of transaction.writable) {
      const one = followed.get(address);
      if (one === undefined) continue;
      one.paid.push({ slot, price: transaction.price });
      if (one.paid.length > MOST_SAMPLES) one.paid.shift();
    }
  }

  function follow(address: Address): void {
    if (followed.size >= maxAccounts) {
      const [oldest] = [...followed].reduce((a, b) => (a[1].askedAtMs <= b[1].askedAtMs ? a : b));
      followed.delete(oldest);
    }
    followed.set(address, { paid: [], askedAtMs: now(), followedSinceMs: undefined });
    subscribing ??= setTimeout(subscribe, SUBSCRIBE_AFTER_MS);
  }

  connect();
  return {
    async read(writable) {
      const [address] = writable;
      if (address === undefined || writable.length > 1) return undefined;
      const one = followed.get(address);
      if (one === undefined) {
        follow(address);
        return undefined;
      }
      one.askedAtMs = now();
      const isLive = now() - slotAtMs < SILENT_MS;
      if (!isLive || one.followedSinceMs === undefined || now() - one.followedSinceMs < LISTENED_MS) return undefined;
      const samples = one.paid.filter(({ slot }) => slot + RECENT_SLOTS >= newestSlot).map(({ price }) => price);
      return { prices: pricesOf(samples, trims), samples };
    },
    close() {
      closed = true;
      clearTimeout(subscribing);
      clearTimeout(retrying);
      stream?.close();
    },
  };
}

/** Transactions that name the accounts, votes apart, and slots, which say that the stream is alive. */
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

/** The slot of a slot update; undefined for any other. */
function slotOf(bytes: Uint8Array): bigint | undefined {
  const update = messageIn(fieldsOf(bytes), SLOT_UPDATE);
  return update.size === 0 ? undefined : BigInt(numberIn(update, 1));
}
