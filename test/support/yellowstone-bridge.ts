import { asAccount, asContext } from "../../src/chain/rpc/rpc-values.ts";
import { createSubscriptions } from "../../src/chain/rpc/subscriptions/subscriptions.ts";
import { SLOT_STATUS } from "../../src/chain/yellowstone/yellowstone-wire.ts";
import { Address } from "../../src/primitives/address.ts";
import type { StreamEvent, YellowstoneServer } from "./yellowstone-server.ts";

export interface YellowstoneBridge {
  /** Account changes sent so far. */
  readonly changes: number;
  close(): void;
}

/** How often new accounts are looked for in the last request. Milliseconds. */
const FOLLOW_MS = 5;

/**
 * Feeds the server from the embedded chain's WebSocket, with the accounts that streams ask for.
 * @param change what is sent in place of each event; undefined: nothing
 */
export function bridgeYellowstone(
  server: YellowstoneServer,
  wsUrl: string,
  change: (event: StreamEvent) => StreamEvent | undefined = (event) => event,
): YellowstoneBridge {
  const followed = new Set<string>();
  const subscriptions = createSubscriptions({ urls: [wsUrl], now: Date.now, random: Math.random, warn: () => {} });
  const emit = (event: StreamEvent) => {
    const sent = change(event);
    if (sent !== undefined) server.emit(sent);
  };
  const bridge = {
    changes: 0,
    close() {
      clearInterval(following);
      subscriptions.close();
    },
  };
  subscriptions.onSlot((slot, { parent, root }) => {
    emit({ kind: "slot", slot: Number(slot), status: SLOT_STATUS.firstShredReceived });
    emit({ kind: "slot", slot: Number(slot), parent: Number(parent), status: SLOT_STATUS.createdBank });
    emit({ kind: "slot", slot: Number(root), status: SLOT_STATUS.finalized });
  });
  const follow = (text: string) => {
    const address = Address.of(text);
    subscriptions.subscribe({
      kind: "account",
      params: [text, { encoding: "base64", commitment: "processed" }],
      onNotice(result) {
        const { slot, value } = asContext(result, "an account notice");
        const account = asAccount(address, value, slot);
        bridge.changes += 1;
        emit({
          kind: "account",
          slot: Number(slot),
          address,
          lamports: Number(account?.lamports ?? 0n),
          owner: account?.owner,
          data: account?.data ?? new Uint8Array(),
          writeVersion: bridge.changes,
        });
      },
    });
  };
  const following = setInterval(() => {
    for (const request of server.requests.slice(-8)) {
      for (const { account } of Object.values(request.accounts ?? {})) {
        for (const text of account) {
          if (followed.has(text)) continue;
          followed.add(text);
          follow(text);
        }
      }
    }
  }, FOLLOW_MS);
  return bridge;
}
