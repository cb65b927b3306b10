import type { Address } from "../../primitives/address.ts";
import { asAccount, asContext } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import type { AccountFeed, FeedListener } from "./account-feed.ts";
import { createStateSource, type LiveStateSource, type StateSourceOptions } from "./state-source.ts";

export interface RpcStateSourceOptions extends Omit<StateSourceOptions, "feed"> {
  readonly subscriptions: Subscriptions;
  /** The commitment of `reader`, used for subscriptions too. */
  readonly commitment: "processed" | "confirmed";
}

/** Follows accounts by WebSocket subscription, one for each. */
export function createRpcStateSource({
  subscriptions,
  commitment,
  ...options
}: RpcStateSourceOptions): LiveStateSource {
  return createStateSource({ ...options, feed: createSubscriptionFeed(subscriptions, commitment) });
}

/** Notices carry no write version and no number: within a slot they count in the order of their arrival. */
function createSubscriptionFeed(subscriptions: Subscriptions, commitment: "processed" | "confirmed"): AccountFeed {
  const cancels = new Map<Address, () => void>();
  let listener: FeedListener | undefined;
  let order = 0;
  const stops = [
    subscriptions.onSlot((slot, { parent, root }) => {
      listener?.onSlot(slot, parent);
      listener?.onRoot(root);
    }),
    subscriptions.onLost(() => {
      listener?.onUncovered(undefined);
      listener?.onRestart();
    }),
  ];

  function subscribe(address: Address): () => void {
    return subscriptions.subscribe({
      kind: "account",
      params: [address.toString(), { encoding: "base64", commitment }],
      onActive() {
        listener?.onCovered([address], subscriptions.lastSlot());
      },
      onNotice(result) {
        const { slot, value } = asContext(result, "an account notice");
        listener?.onAccount({ address, account: asAccount(address, value, slot), slot, epoch: 0, order: ++order });
      },
    });
  }

  return {
    listen(heard) {
      listener = heard;
    },
    follow(addresses) {
      for (const address of addresses) cancels.set(address, subscribe(address));
    },
    unfollow(addresses) {
      for (const address of addresses) {
        cancels.get(address)?.();
        cancels.delete(address);
      }
    },
    liveAtMs: () => subscriptions.lastSlotAtMs(),
    leastLiveAtMs: () => subscriptions.lastSlotAtMs(),
    readStamp: () => ({ epoch: 0, order: ++order }),
    doubt: () => subscriptions.doubt(),
    close() {
      for (const stop of stops) stop();
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
    },
  };
}
