import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account } from "../solana/account.ts";
import type { AccountReader, StateSource } from "./port.ts";
import { asAccount, asContext } from "./rpc-values.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface RpcStateSourceOptions {
  readonly reader: AccountReader;
  readonly subscriptions: Subscriptions;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** The commitment of `reader`, used for subscriptions too. */
  readonly commitment: "processed" | "confirmed";
  /** How often accounts that no subscription covers are read. */
  readonly pollMs?: number;
  /** How often even a subscribed account is read again, to heal what a subscription has lost. */
  readonly refreshMs?: number;
  /** A subscription connection that has told of no slot for this long is not relied on: everything is read as if it were gone. */
  readonly quietMs?: number;
  /** A read this many slots behind the newest slot known does not count as current. */
  readonly maxLagSlots?: bigint;
}

interface Followed {
  readonly address: Address;
  /** Slot of the newest state delivered; undefined before the first. */
  slot: bigint | undefined;
  /** Counts deliveries by subscription, to tell whether one came while a read was under way. */
  notices: number;
  /** Newest slot when the node accepted the subscription; undefined while there is none. */
  activeFrom: bigint | undefined;
  /** True once a read closed the gap before the subscription: the stream is complete from here. */
  streamed: boolean;
  /** Up to when the state is known without the stream. */
  provenAtMs: number;
  readAtMs: number;
  cancel: () => void;
}

const DEFAULT_POLL_MS = 400;
const DEFAULT_REFRESH_MS = 10_000;
const DEFAULT_QUIET_MS = 1_000;
const DEFAULT_MAX_LAG_SLOTS = 10n;

/**
 * Follows accounts by WebSocket subscription, with reads to start from, to bridge lost connections, and to heal.
 * The subscription is asked for first; an account counts as streamed only once a read after the beginning of the subscription has
 * been seen, so that no change can fall between the two.
 */
export function createRpcStateSource({
  reader,
  subscriptions,
  now,
  warn,
  commitment,
  pollMs = DEFAULT_POLL_MS,
  refreshMs = DEFAULT_REFRESH_MS,
  quietMs = DEFAULT_QUIET_MS,
  maxLagSlots = DEFAULT_MAX_LAG_SLOTS,
}: RpcStateSourceOptions): StateSource {
  const followed = new Map<Address, Followed>();
  let listener: (address: Address, account: Account | null, slot: bigint) => void = () => {};
  let newestSlot = 0n;
  let polling = false;
  let failing = false;

  function start(address: Address): Followed {
    const entry: Followed = {
      address,
      slot: undefined,
      notices: 0,
      activeFrom: undefined,
      streamed: false,
      provenAtMs: 0,
      readAtMs: 0,
      cancel: () => {},
    };
    followed.set(address, entry);
    entry.cancel = subscriptions.subscribe({
      kind: "account",
      params: [address.toString(), { encoding: "base64", commitment }],
      onActive() {
        entry.activeFrom = subscriptions.lastSlot();
      },
      onNotice(result) {
        const { slot, value } = asContext(result, "an account notice");
        if (entry.slot !== undefined && slot < entry.slot) return;
        const account = asAccount(address, value, slot);
        entry.notices += 1;
        entry.slot = slot;
        listener(address, account, slot);
      },
    });
    return entry;
  }

  /** Reads the accounts and delivers what is not older than what is known. */
  async function read(entries: readonly Followed[]): Promise<void> {
    const sentAtMs = now();
    const noticesBefore = entries.map(({ notices }) => notices);
    const activeBefore = entries.map(({ activeFrom }) => activeFrom);
    const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      const account = accounts[i] ?? null;
      const slot = account?.slot ?? oldest;
      if (slot > newestSlot) newestSlot = slot;
      if (followed.get(entry.address) !== entry) continue;
      entry.readAtMs = sentAtMs;
      const isNewer =
        entry.slot === undefined || slot > entry.slot || (slot === entry.slot && entry.notices === noticesBefore[i]);
      if (isNewer) {
        entry.slot = slot;
        listener(entry.address, account, slot);
      }
      if (slot + maxLagSlots >= newestSlot) entry.provenAtMs = Math.max(entry.provenAtMs, sentAtMs);
      const { activeFrom } = entry;
      if (activeFrom === undefined) continue;
      // Within one slot, only a read that was sent after the subscription began has missed nothing before it.
      if (slot > activeFrom || (slot === activeFrom && activeBefore[i] === activeFrom)) entry.streamed = true;
    }
  }

  async function poll(): Promise<void> {
    if (polling) return;
    if (subscriptions.lastSlot() > newestSlot) newestSlot = subscriptions.lastSlot();
    const dueBefore = now() - refreshMs;
    const isQuiet = now() - subscriptions.lastSlotAtMs() > quietMs;
    const due = [...followed.values()].filter((entry) => isQuiet || !entry.streamed || entry.readAtMs <= dueBefore);
    if (due.length === 0) return;
    polling = true;
    try {
      await read(due);
      failing = false;
    } catch (error) {
      if (!failing) warn(`Followed accounts cannot be read: ${String(error)}`);
      failing = true;
    } finally {
      polling = false;
    }
  }

  const stopListening = subscriptions.onLost(() => {
    for (const entry of followed.values()) {
      if (entry.streamed) entry.provenAtMs = Math.max(entry.provenAtMs, subscriptions.lastSlotAtMs());
      entry.streamed = false;
      entry.activeFrom = undefined;
    }
  });
  const timer = setInterval(() => void poll(), pollMs);

  return {
    onAccount(heard) {
      listener = heard;
    },
    async follow(addresses) {
      const entries = addresses.map((address) => followed.get(address) ?? start(address));
      await read(entries.filter(({ slot }) => slot === undefined));
    },
    unfollow(addresses) {
      for (const address of addresses) {
        followed.get(address)?.cancel();
        followed.delete(address);
      }
    },
    refresh: (addresses) => read(addresses.flatMap((address) => followed.get(address) ?? [])),
    currentAtMs(address) {
      const entry = followed.get(address);
      if (entry === undefined) return 0;
      return entry.streamed ? Math.max(entry.provenAtMs, subscriptions.lastSlotAtMs()) : entry.provenAtMs;
    },
    close() {
      clearInterval(timer);
      stopListening();
      for (const entry of followed.values()) entry.cancel();
      followed.clear();
    },
  };
}
