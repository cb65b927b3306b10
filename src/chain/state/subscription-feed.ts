import type { Address } from "../../primitives/address.ts";
import { asAccount, asContext } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import type { AccountFeed, FeedListener } from "./account-feed.ts";

/** Account notices over subscriptions. They carry no write version: within a slot they count in the order of their arrival. */
export class SubscriptionFeed implements AccountFeed {
  readonly reportsEveryChange = false;
  readonly #subscriptions: Subscriptions;
  readonly #commitment: "processed" | "confirmed";
  readonly #cancels = new Map<Address, () => void>();
  readonly #stops: readonly (() => void)[];
  #listener: FeedListener | undefined;
  readonly #onClose: () => void;
  #order = 0;

  constructor(subscriptions: Subscriptions, commitment: "processed" | "confirmed", onClose = () => {}) {
    this.#subscriptions = subscriptions;
    this.#onClose = onClose;
    this.#commitment = commitment;
    this.#stops = [
      subscriptions.onSlot((slot, { parent, root }) => {
        this.#listener?.onSlot(slot, parent);
        this.#listener?.onRoot(root);
      }),
      subscriptions.onLost(() => {
        this.#listener?.onUncovered(undefined);
        this.#listener?.onRestart();
      }),
    ];
  }

  listen(listener: FeedListener): void {
    this.#listener = listener;
  }

  follow(addresses: readonly Address[]): void {
    for (const address of addresses) this.#cancels.set(address, this.#subscribe(address));
  }

  unfollow(addresses: readonly Address[]): void {
    for (const address of addresses) {
      this.#cancels.get(address)?.();
      this.#cancels.delete(address);
    }
  }

  liveAtMs(): number {
    return this.#subscriptions.lastSlotAtMs();
  }

  liveTimes(): () => number {
    const atMs = this.#subscriptions.lastSlotAtMs();
    return () => atMs;
  }

  leastLiveAtMs(): number {
    return this.#subscriptions.lastSlotAtMs();
  }

  readStamp(): { readonly epoch: number; readonly order: number } {
    return { epoch: 0, order: ++this.#order };
  }

  doubt(): boolean {
    return this.#subscriptions.doubt();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
    this.#onClose();
  }

  #subscribe(address: Address): () => void {
    return this.#subscriptions.subscribe({
      kind: "account",
      params: [address.toString(), { encoding: "base64", commitment: this.#commitment }],
      onActive: () => this.#listener?.onCovered([address], this.#subscriptions.lastSlot()),
      onNotice: (result) => {
        const { slot, value } = asContext(result, "an account notice");
        const account = asAccount(address, value, slot);
        this.#listener?.onAccount({ address, account, slot, epoch: 0, order: ++this.#order });
      },
    });
  }
}
