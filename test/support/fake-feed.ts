import type { AccountFeed } from "../../src/chain/state/account-feed.ts";

/** A feed of accounts that delivers nothing, or what `members` do. */
export const fakeFeed = (members: Partial<AccountFeed> = {}): AccountFeed => ({
  listen: () => {},
  follow: () => {},
  unfollow: () => {},
  liveAtMs: () => 0,
  reportsEveryChange: false,
  liveTimes: () => () => 0,
  leastLiveAtMs: () => 0,
  readStamp: () => ({ epoch: -1, order: 0 }),
  doubt: () => true,
  close: () => {},
  ...members,
});
