import type { Now } from "../../primitives/clock.ts";
import { isRefusal, NodeError } from "./node-error.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";

export interface ReadOptions {
  readonly timeoutMs?: number;
  /** Which endpoint is asked first, counted from 0 and wrapped. Spreads repeated questions over all of them. */
  readonly startAt?: number;
  /** An answer for which another endpoint may know better, such as null from a node that lags. */
  readonly isLacking?: (result: unknown) => boolean;
  /** True: the question may be refused for how it is asked, which says nothing about the method. */
  readonly isProbe?: boolean;
  /** An answer that contradicts what is known of the chain: whoever gave it is doubted for a while, and another is asked. */
  readonly isWrong?: (result: unknown) => boolean;
}

/** Several nodes that serve the same chain. */
export interface RpcPool {
  readonly endpoints: readonly RpcEndpoint[];
  /**
   * Asks one endpoint, and the next when that fails; beside it, when it is slow. The first proper answer counts.
   * @throws TradewireError UPSTREAM_ERROR, as the NodeError of the last one asked; of kind "refused" when no endpoint serves the method
   */
  read(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>;
}

interface RpcPoolOptions {
  readonly endpoints: readonly RpcEndpoint[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** An endpoint that has not answered in this time is not waited for alone: the next is asked too. */
  readonly hedgeMs?: number;
  /** How long a refused method is not asked again of the same endpoint. */
  readonly refusalMs?: number;
}

const DEFAULT_HEDGE_MS = 400;
const DEFAULT_REFUSAL_MS = 600_000;

/** Endpoints in order of preference. One that cannot be reached goes last for a while. */
export function createRpcPool({
  endpoints,
  now,
  warn,
  hedgeMs = DEFAULT_HEDGE_MS,
  refusalMs = DEFAULT_REFUSAL_MS,
}: RpcPoolOptions): RpcPool {
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

  function noteRefusal(index: number, method: string): void {
    // Calls that were under way together are refused together, and that is one piece of news.
    const isKnown = (refusedUntilMs[index]!.get(method) ?? 0) > now();
    refusedUntilMs[index]!.set(method, now() + refusalMs);
    if (isKnown) return;
    warn(
      `The Solana node ${endpoints[index]!.name} does not serve ${method}; it is not asked again for ${refusalMs / 1000} s.`,
    );
  }

  function read(method: string, params: readonly unknown[], options: ReadOptions = {}): Promise<unknown> {
    const order = inOrder(method, options.startAt ?? 0);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let asked = 0;
    let running = 0;
    let settled = false;
    let hedge: NodeJS.Timeout | undefined;
    let failure: unknown = new NodeError("refused", `No configured Solana node serves ${method}.`);
    let lacking: { readonly result: unknown } | undefined;

    const settle = (finish: () => void) => {
      settled = true;
      clearTimeout(hedge);
      finish();
    };
    const askNext = () => {
      clearTimeout(hedge);
      if (settled) return;
      const index = order[asked++];
      if (index !== undefined) void ask(index);
      else if (running === 0) {
        const known = lacking;
        settle(() => (known === undefined ? reject(failure) : resolve(known.result)));
      }
    };
    const ask = async (index: number) => {
      running += 1;
      if (asked < order.length) hedge = setTimeout(askNext, hedgeMs);
      try {
        const result = await endpoints[index]!.call(method, params, options.timeoutMs);
        if (options.isWrong?.(result) === true) {
          endpoints[index]!.doubt();
          failure = new NodeError(
            "malformed",
            `The Solana node ${endpoints[index]!.name} answered ${method} with what contradicts the chain.`,
          );
        } else if (options.isLacking?.(result) === true) lacking = { result };
        else if (!settled) settle(() => resolve(result));
      } catch (error) {
        failure = error;
        if (isRefusal(error) && options.isProbe !== true) noteRefusal(index, method);
      }
      running -= 1;
      askNext();
    };
    askNext();
    return promise;
  }

  return { endpoints, read };
}
