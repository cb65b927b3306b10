import { createSubscriptions } from "../../chain/rpc/subscriptions/subscriptions.ts";
import type { WitnessSource } from "../../chain/state/compare/witness-stream.ts";
import { SubscriptionFeed } from "../../chain/state/subscription-feed.ts";
import type { AppContext } from "../context.ts";
import type { ChainParts } from "./chain-parts.ts";

/** The WebSocket of every node by itself, to be compared with the stream that is followed. */
export function witnessStreams(
  { steadyMs: now, random, warn }: Pick<AppContext, "steadyMs" | "random" | "warn">,
  { wsUrls, seldom }: Pick<ChainParts, "wsUrls" | "seldom">,
): readonly WitnessSource[] {
  return wsUrls.map((url) => ({
    host: new URL(url).host,
    open() {
      const subscriptions = createSubscriptions({ urls: [url], now, random, warn, seldom });
      return new SubscriptionFeed(subscriptions, "processed", () => subscriptions.close());
    },
  }));
}
