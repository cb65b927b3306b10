import type { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import { createStateSource, type LiveStateSource, type StateSourceOptions } from "./state-source.ts";
import { SubscriptionFeed } from "./subscription-feed.ts";

/** What following by WebSocket needs besides. */
export interface RpcStateSourceOptions extends Omit<StateSourceOptions, "feed" | "followedHost"> {
  readonly subscriptions: Subscriptions;
  /** The commitment of `reader`, used for subscriptions too. */
  readonly commitment: "processed" | "confirmed";
}

/** Follows accounts by WebSocket subscription, one for each. */
export function createRpcStateSource(options: RpcStateSourceOptions): LiveStateSource {
  const { subscriptions, commitment, ...rest } = options;
  const feed = new SubscriptionFeed(subscriptions, commitment);
  return createStateSource({ ...rest, feed, followedHost: () => subscriptions.host() });
}
