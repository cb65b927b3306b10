import type { Address } from "../../primitives/address.ts";
import type { AccountFeed, FeedListener } from "../state/account-feed.ts";
import { createStateSource, type LiveStateSource, type StateSourceOptions } from "../state/state-source.ts";
import { FeedStream, type FeedStreamOptions } from "./feed-stream.ts";

interface YellowstoneOptions extends FeedStreamOptions {
  /** Upper bound of accounts per stream: each new account sends the whole list of its stream again. */
  readonly accountsPerStream?: number;
}

/** What following by a Yellowstone stream needs. */
export interface YellowstoneStateSourceOptions
  extends YellowstoneOptions,
    Omit<StateSourceOptions, "feed" | "followedHost" | "now" | "warn" | "random"> {}

const DEFAULT_ACCOUNTS_PER_STREAM = 5_000;
/** Reads only check this stream: every account once in this time. Milliseconds. */
const DEFAULT_REFRESH_MS = 300_000;
const DEFAULT_VERIFY_MS = 5_000;

/** Follows accounts by the Yellowstone gRPC stream of a node. */
export function createYellowstoneStateSource(options: YellowstoneStateSourceOptions): LiveStateSource {
  const { host } = new URL(options.url);
  return createStateSource({
    refreshMs: DEFAULT_REFRESH_MS,
    verifyMs: DEFAULT_VERIFY_MS,
    ...options,
    feed: new YellowstoneFeed(options),
    followedHost: () => host,
  });
}

/** Opens as many streams as the accounts need. */
class YellowstoneFeed implements AccountFeed {
  readonly reportsEveryChange = true;
  readonly #options: YellowstoneOptions;
  readonly #accountsPerStream: number;
  readonly #streamOf = new Map<Address, FeedStream>();
  readonly #streams: FeedStream[] = [];
  /** Set by `listen`; streams read it at each update. */
  listener: FeedListener | undefined;
  #epoch = 0;

  constructor(options: YellowstoneOptions) {
    this.#options = options;
    this.#accountsPerStream = options.accountsPerStream ?? DEFAULT_ACCOUNTS_PER_STREAM;
    this.#addStream();
  }

  nextEpoch(): number {
    return ++this.#epoch;
  }

  listen(listener: FeedListener): void {
    this.listener = listener;
  }

  follow(addresses: readonly Address[]): void {
    for (const address of addresses) {
      const stream = this.#streams.find(({ size }) => size < this.#accountsPerStream) ?? this.#addStream();
      this.#streamOf.set(address, stream);
      stream.follow(address);
    }
  }

  unfollow(addresses: readonly Address[]): void {
    for (const address of addresses) {
      this.#streamOf.get(address)?.unfollow(address);
      this.#streamOf.delete(address);
    }
  }

  liveAtMs(address: Address): number {
    return this.#streamOf.get(address)?.liveAtMs ?? 0;
  }

  liveTimes(): (address: Address) => number {
    const times = new Map(this.#streams.map((stream) => [stream, stream.liveAtMs]));
    return (address) => times.get(this.#streamOf.get(address)!) ?? 0;
  }

  leastLiveAtMs(): number {
    return this.#streams.reduce((least, { liveAtMs }) => Math.min(least, liveAtMs), Number.POSITIVE_INFINITY);
  }

  /** A read has no write version: the stream's updates of the same slot win, and soon follow. */
  readStamp(): { readonly epoch: number; readonly order: number } {
    return { epoch: -1, order: 0 };
  }

  /** There is only one server; whatever it lost is read. */
  doubt(): boolean {
    return false;
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #addStream(): FeedStream {
    const stream = new FeedStream(this.#options, this);
    this.#streams.push(stream);
    return stream;
  }
}
