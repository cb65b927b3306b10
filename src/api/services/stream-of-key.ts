import type { HandlerContext } from "@connectrpc/connect";
import type { KeyDirectory } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { principalOf } from "../call/call.ts";
import type { CallState } from "../call/call-state.ts";
import type { StreamPlaces } from "../call/stream-places.ts";

/** What ends and limits streams. */
export interface StreamBounds {
  /** Ends them when the service closes; its reason is what typed callers get. */
  readonly closing: AbortSignal;
  /** Bounds those of each API key. */
  readonly streams: StreamPlaces;
  readonly keys: Pick<KeyDirectory, "watch">;
  /** Counts a price of a stream like a call. @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED */
  readonly takePrice: (caller: CallState) => void;
}

/**
 * Runs a stream of an API key, within the places that the key has.
 *
 * @param open the messages, until its signal aborts
 * @throws TradewireError RATE_LIMIT_EXCEEDED if all places are taken; AUTH_ERROR once the key is revoked; the reason of `closing` when the
 * service closes, because the requested trade or price has not ended
 */
export async function* streamOfKey<T>(
  { closing, streams, keys }: StreamBounds,
  context: HandlerContext,
  open: (until: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { keyId } = principalOf(context);
  const revoked = new AbortController();
  streams.take(keyId);
  const unwatch = keys.watch(keyId, () => revoked.abort());
  try {
    yield* open(AbortSignal.any([context.signal, closing, revoked.signal]));
    if (revoked.signal.aborted) {
      throw new TradewireError(
        "AUTH_ERROR",
        "This API key has been revoked. Register the wallet again to receive another.",
      );
    }
    if (closing.aborted) throw closing.reason;
  } finally {
    unwatch();
    streams.free(keyId);
  }
}
