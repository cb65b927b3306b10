import type { Now } from "../primitives/clock.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";
import { isRefusal, RpcError } from "./rpc-error.ts";

export interface ReadOptions {
  readonly timeoutMs?: number;
  /** Which endpoint is asked first, counted from 0 and wrapped. Spreads repeated questions over all of them. */
  readonly startAt?: number;
  /** An answer for which another endpoint may know better, such as null from a node that lags. */
  readonly isLacking?: (result: unknown) => boolean;
}

/** Several nodes that serve the same chain. */
export interface RpcPool {
  readonly endpoints: readonly RpcEndpoint[];
  /**
   * Asks one endpoint, and the next when that fails.
   * @throws TradewireError UPSTREAM_ERROR, as the RpcError of the last one asked; of kind "refused" when no endpoint serves the method
   */
  read(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>;
}

export interface RpcPoolOptions {
  readonly endpoints: readonly RpcEndpoint[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** How long a refused method is not asked again of the same endpoint. */
  readonly refusalMs?: number;
}

const DEFAULT_REFUSAL_MS = 600_000;

/** Endpoints in order of preference. One that cannot be reached goes last for a while. */
export function createRpcPool({ endpoints, now, warn, refusalMs = DEFAULT_REFUSAL_MS }: RpcPoolOptions): RpcPool {
  if (endpoints.length === 0) throw new RangeError("a pool needs at least one endpoint");
  const refusedUntilMs = endpoints.map(() => new Map<string, number>());

  function inOrder(method: string, startAt: number): readonly number[] {
    const ready: number[] = [];
    const cooling: number[] = [];
    for (let i = 0; i < endpoints.length; i++) {
      const index = (startAt + i) % endpoints.length;
      if ((refusedUntilMs[index]!.get(method) ?? 0) > now()) continue;
      (endpoints[index]!.isCooling() ? cooling : ready).push(index);
    }
    return [...ready, ...cooling];
  }

  async function read(method: string, params: readonly unknown[], options: ReadOptions = {}): Promise<unknown> {
    let failure: unknown = new RpcError("refused", `No configured Solana node serves ${method}.`);
    let lacking: { readonly result: unknown } | undefined;
    for (const index of inOrder(method, options.startAt ?? 0)) {
      const endpoint = endpoints[index]!;
      try {
        const result = await endpoint.call(method, params, options.timeoutMs);
        if (options.isLacking?.(result) !== true) return result;
        lacking = { result };
      } catch (error) {
        failure = error;
        if (isRefusal(error)) {
          refusedUntilMs[index]!.set(method, now() + refusalMs);
          warn(
            `The Solana node ${endpoint.name} does not serve ${method}; it is not asked again for ${refusalMs / 1000} s.`,
          );
        }
      }
    }
    if (lacking !== undefined) return lacking.result;
    throw failure;
  }

  return { endpoints, read };
}
