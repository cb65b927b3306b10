import { type CallOptions, type Client, createClient, type Transport } from "@connectrpc/connect";

import bs58 from "bs58";
import { AccountService, type ListKeysResponse } from "../../gen/tradewire/v1/account_pb.ts";
import {
  type BuyResponse,
  type GetPriorityResponse,
  type QuoteResponse,
  type SellResponse,
  type SwapResponse,
  TradeService,
} from "../../gen/tradewire/v1/trade_pb.ts";
import { toTradeError } from "./connect-error.ts";
import { createBinaryTransport } from "./connect-transport.ts";
import { createKeepAlive, type KeepAlive } from "./keep-alive.ts";
import {
  type BuyOrder,
  buyAsTrade,
  PRIORITIES,
  type SellOrder,
  SWAP_MODES,
  type SwapOrder,
  saleAsTrade,
  swapAsTrade,
} from "./order.ts";
import { signTransaction } from "./signing.ts";
import { type Trade, toTrade } from "./trade.ts";
import { TradeError } from "./trade-error.ts";
import { type LookupTables, lookupTablesOf } from "./verify/read-transaction.ts";
import { expectTrade, type TradeLimits, type TradeOrder } from "./verify/trade-expectation.ts";
import { verifyTransaction } from "./verify/verify-transaction.ts";
import { toWallet, type Wallet, type WalletLike } from "./wallet.ts";
import { signatureBytes } from "./wire-layout.ts";

export interface ConnectOptions {
  /** Where the service is, such as https://trade.example. */
  readonly baseUrl: string;
  /** A base58 private key of 32 or 64 bytes, or anything that can sign. */
  readonly wallet: WalletLike;
  /** Absent: `register` gets one. */
  readonly apiKey?: string | undefined;
  /** In place of Connect over fetch. */
  readonly transport?: Transport | undefined;
  /** Longest wait for one answer. Milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** "off" signs whatever the service builds. Say it only of a service you run yourself. */
  readonly verify?: "on" | "off" | undefined;
  /**
   * Contents of address lookup tables, or how to read them from a node of your own: needed where the service is set up with
   * lookup tables. They must not come from the service itself, which could lie about them.
   */
  readonly lookupTables?: LookupTables | LookupTableReader | undefined;
  /** Pings after this long without a call; 0 never does. Milliseconds. */
  readonly keepAliveMs?: number | undefined;
}

export type LookupTableReader = (tables: ReturnType<typeof lookupTablesOf>) => Promise<LookupTables>;

/** How a call may be given up. */
export interface CallControl {
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for one answer. Milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Building again after a transaction is proven to have expired. */
export interface RebuildPolicy {
  /** How many times at most. */
  readonly times: number;
  /** How much worse the price may have become since the first build: 0.01 is 1 %. */
  readonly maxPriceMove: number;
}

/** How a whole trade is made. */
export interface TradeOptions extends TradeLimits, CallControl {
  readonly rebuild?: RebuildPolicy | undefined;
  /** Told of every step as it is done. */
  readonly onProgress?: ((step: TradeStep) => void) | undefined;
}

export type TradeStep =
  | { readonly step: "built"; readonly built: BuiltResponse }
  | { readonly step: "signed"; readonly signature: string }
  | { readonly step: "waiting"; readonly signature: string }
  | { readonly step: "expired"; readonly signature: string };

export type BuiltResponse = BuyResponse | SellResponse | SwapResponse;

interface KnownBuild {
  readonly order: TradeOrder;
  readonly limits: TradeLimits;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_KEEP_ALIVE_MS = 60_000;
/** How long a submit that is still pending, or whose connection was lost, is asked for again. The chain decides well within it. */
const SUBMIT_PATIENCE_MS = 120_000;
const SUBMIT_PAUSE_MS = 500;

/** The service as one wallet uses it: a trade is one call that builds, verifies, signs here and submits. */
export class Tradewire {
  readonly wallet: Wallet;
  readonly #baseUrl: string;
  readonly #trades: Client<typeof TradeService>;
  readonly #accounts: Client<typeof AccountService>;
  readonly #timeoutMs: number;
  readonly #verifies: boolean;
  readonly #lookupTables: LookupTables | LookupTableReader | undefined;
  readonly #keepAlive: KeepAlive | undefined;
  readonly #closing = new AbortController();
  readonly #builds = new WeakMap<BuiltResponse, KnownBuild>();
  #apiKey: string | undefined;

  private constructor(options: ConnectOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.wallet = toWallet(options.wallet);
    this.#apiKey = options.apiKey;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#verifies = options.verify !== "off";
    this.#lookupTables = options.lookupTables;
    const idleMs = options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
    this.#keepAlive = idleMs > 0 ? createKeepAlive(() => this.ping(), idleMs) : undefined;
    const transport = options.transport ?? createBinaryTransport(this.#baseUrl);
    this.#trades = createClient(TradeService, transport);
    this.#accounts = createClient(AccountService, transport);
    if (!this.#verifies) {
      console.warn(
        "Tradewire: verification is OFF. Whatever the service builds is signed, even a transaction that empties this wallet.",
      );
    }
  }

  /** A client of the service for one wallet. Nothing is sent yet. @throws TypeError for a wallet that is none */
  static connect(options: ConnectOptions): Tradewire {
    return new Tradewire(options);
  }

  /** The API key in use. */
  get apiKey(): string | undefined {
    return this.#apiKey;
  }

  /**
   * Registers the wallet by signing a challenge, and uses the key that comes of it from then on. Keep the key: it is shown
   * this once. @throws TradeError
   */
  async register(
    options: CallControl & { readonly label?: string | undefined; readonly revokeOthers?: boolean | undefined } = {},
  ): Promise<{ apiKey: string; keyId: string }> {
    const walletAddress = this.wallet.publicKey.toString();
    return this.#call(async () => {
      const control = this.#options(options);
      const { message } = await this.#accounts.createChallenge({ walletAddress }, control);
      checkChallenge(message, walletAddress);
      const signature = bs58.encode(await this.wallet.signMessageBytes(new TextEncoder().encode(message)));
      const proof = {
        walletAddress,
        message,
        signature,
        label: options.label ?? "",
        revokeOthers: options.revokeOthers ?? false,
      };
      const { apiKey, keyId } = await this.#accounts.register(proof, control);
      this.#apiKey = apiKey;
      return { apiKey, keyId };
    });
  }

  /** The API keys of this account, without their secrets. @throws TradeError */
  async keys(control: CallControl = {}): Promise<ListKeysResponse["keys"]> {
    return (await this.#call(() => this.#accounts.listKeys({}, this.#options(control)))).keys;
  }

  /** Retires an API key of this account. @throws TradeError NOT_FOUND */
  async revokeKey(keyId: string, control: CallControl = {}): Promise<void> {
    await this.#call(() => this.#accounts.revokeKey({ keyId }, this.#options(control)));
  }

  /** Builds, verifies, signs and submits a buy. @throws TradeError */
  buy(order: BuyOrder, options: TradeOptions = {}): Promise<Trade> {
    return this.#trade(() => this.buildBuy(order, options), options);
  }

  /** Builds, verifies, signs and submits a sale. @throws TradeError */
  sell(order: SellOrder, options: TradeOptions = {}): Promise<Trade> {
    return this.#trade(() => this.buildSell(order, options), options);
  }

  /** Builds, verifies, signs and submits a swap. @throws TradeError */
  swap(order: SwapOrder, options: TradeOptions = {}): Promise<Trade> {
    return this.#trade(() => this.buildSwap(order, options), options);
  }

  /** Builds a buy; nothing is signed. @throws TradeError */
  buildBuy(order: BuyOrder, options: TradeLimits & CallControl = {}): Promise<BuyResponse> {
    const request = { ...order, ...serverLimits(options), priority: PRIORITIES[order.priority] };
    return this.#build(buyAsTrade(order), options, () => this.#trades.buy(request, this.#options(options)));
  }

  /** Builds a sale; nothing is signed. @throws TradeError, TypeError unless the order has one of its two amounts */
  buildSell(order: SellOrder, options: TradeLimits & CallControl = {}): Promise<SellResponse> {
    const trade = saleAsTrade(order);
    const request = {
      mint: order.mint,
      ...(order.tokenAmount === undefined ? {} : { tokenAmount: order.tokenAmount }),
      ...(order.sellPercent === undefined ? {} : { sellPercent: order.sellPercent }),
      slippage: order.slippage,
      ...serverLimits(options),
      priority: PRIORITIES[order.priority],
    };
    return this.#build(trade, options, () => this.#trades.sell(request, this.#options(options)));
  }

  /** Builds a swap; nothing is signed. @throws TradeError */
  buildSwap(order: SwapOrder, options: TradeLimits & CallControl = {}): Promise<SwapResponse> {
    const { priority, swapMode, ...rest } = order;
    const request = {
      ...rest,
      ...serverLimits(options),
      priority: PRIORITIES[priority],
      swapMode: SWAP_MODES[swapMode],
    };
    return this.#build(swapAsTrade(order), options, () => this.#trades.swap(request, this.#options(options)));
  }

  /** Prices a swap without building it. @throws TradeError */
  quote(order: Omit<SwapOrder, "priority">, control: CallControl = {}): Promise<QuoteResponse> {
    const request = { ...order, swapMode: SWAP_MODES[order.swapMode] };
    return this.#call(() => this.#trades.quote(request, this.#options(control)));
  }

  /** What priority costs now, per level. @throws TradeError */
  priorities(control: CallControl = {}): Promise<GetPriorityResponse> {
    return this.#call(() => this.#trades.getPriority({}, this.#options(control)));
  }

  /**
   * Proves that what was built is what was asked for, then signs it. `built` is what a build call of this client returned.
   * @param limits in place of those of the build
   * @throws TradeError UNEXPECTED_TRANSACTION, UNREADABLE_TRANSACTION, PRICE_IMPACT_TOO_HIGH, PRIORITY_COST_TOO_HIGH, LIMIT_EXCEEDED
   */
  async sign(built: BuiltResponse, limits?: TradeLimits): Promise<Uint8Array> {
    if (this.#verifies) await this.#verify(built, limits);
    return signTransaction(this.wallet, built.unsignedTransaction);
  }

  /**
   * Submits a signed transaction and waits until the chain has decided. Asking again with the same bytes is always safe, so
   * lost connections and undecided answers are asked again.
   *
   * @throws TradeError with the transaction's signature; `safeToRebuild` true when nothing of it can land any more
   */
  async submit(submissionToken: string, signedTransaction: Uint8Array, control: CallControl = {}): Promise<Trade> {
    const signature = bs58.encode(signatureBytes(signedTransaction));
    const until = Date.now() + SUBMIT_PATIENCE_MS;
    for (;;) {
      let pauseMs = SUBMIT_PAUSE_MS;
      try {
        const trade = toTrade(
          await this.#call(() => this.#trades.submit({ submissionToken, signedTransaction }, this.#options(control))),
        );
        // A block that may still be dropped, or whose record is not read yet, decides nothing.
        const isDecided = trade.status !== "pending" && trade.status !== "processed";
        if (isDecided || Date.now() > until) return trade;
      } catch (error) {
        const failure = toTradeError(error);
        if (!failure.retryable || Date.now() > until) throw namingTransaction(failure, signature);
        pauseMs = failure.retryAfterMs ?? SUBMIT_PAUSE_MS;
      }
      await pause(pauseMs, this.#signal(control), signature);
    }
  }

  /** What became of a trade of this account. @throws TradeError TRADE_NOT_FOUND, or the failure the trade ended in */
  getTrade(signature: string, control: CallControl = {}): Promise<Trade> {
    return this.#call(async () => toTrade(await this.#trades.getTrade({ signature }, this.#options(control))));
  }

  /** What becomes of a trade of this account: at once, and on every change until it is final. @throws TradeError */
  async *watchTrade(signature: string, control: CallControl = {}): AsyncGenerator<Trade, void, undefined> {
    const { timeoutMs: _, ...options } = this.#options(control);
    try {
      for await (const message of this.#trades.watchTrade({ signature }, options)) {
        this.#keepAlive?.touch();
        yield toTrade(message);
      }
    } catch (error) {
      throw toTradeError(error);
    }
  }

  /** Keeps the connection to the service open. @throws TradeError */
  async ping(control: CallControl = {}): Promise<void> {
    await this.#call(async () => {
      const signals = [this.#signal(control), AbortSignal.timeout(control.timeoutMs ?? this.#timeoutMs)];
      const response = await fetch(`${this.#baseUrl}/v1/ping`, { signal: AbortSignal.any(signals) });
      await response.arrayBuffer();
      if (response.ok) return;
      throw new TradeError("CONNECTION_ERROR", `The service answered ping with ${response.status}.`, {
        retryable: true,
      });
    });
  }

  /** Ends keep-alive pings and every call under way. Nothing that was submitted is undone. */
  close(): void {
    this.#keepAlive?.close();
    this.#closing.abort();
  }

  async #build<R extends BuiltResponse>(order: TradeOrder, limits: TradeLimits, call: () => Promise<R>): Promise<R> {
    const built = await this.#call(call);
    this.#builds.set(built, { order, limits });
    return built;
  }

  async #verify(built: BuiltResponse, limits: TradeLimits | undefined): Promise<void> {
    const known = this.#builds.get(built);
    if (known === undefined) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "This build did not come from this client, so there is no order to hold it against. Nothing was signed.",
      );
    }
    const wire = built.unsignedTransaction;
    const expectation = expectTrade(this.wallet.publicKey, known.order, built, limits ?? known.limits);
    const tables = lookupTablesOf(wire);
    const reader = this.#lookupTables;
    const lookupTables = tables.length > 0 && typeof reader === "function" ? await reader(tables) : reader;
    verifyTransaction(wire, expectation, {
      lookupTables: typeof lookupTables === "function" ? undefined : lookupTables,
    });
  }

  async #trade(build: () => Promise<BuiltResponse>, options: TradeOptions): Promise<Trade> {
    const first = await build();
    let built = first;
    for (let rebuilds = 0; ; rebuilds++) {
      options.onProgress?.({ step: "built", built });
      const signed = await this.sign(built, options);
      const signature = bs58.encode(signatureBytes(signed));
      options.onProgress?.({ step: "signed", signature });
      options.onProgress?.({ step: "waiting", signature });
      try {
        return await this.submit(built.submissionToken, signed, options);
      } catch (error) {
        const expired = error instanceof TradeError && error.code === "TX_EXPIRED" && error.safeToRebuild === true;
        if (!expired || rebuilds >= (options.rebuild?.times ?? 0)) throw error;
        options.onProgress?.({ step: "expired", signature });
        built = await build();
        checkPriceMove(first, built, options.rebuild!.maxPriceMove);
      }
    }
  }

  #signal({ signal }: CallControl): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  #options(control: CallControl): CallOptions & { readonly timeoutMs: number } {
    const headers: Record<string, string> =
      this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` };
    return { headers, timeoutMs: control.timeoutMs ?? this.#timeoutMs, signal: this.#signal(control) };
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    this.#keepAlive?.touch();
    try {
      return await call();
    } catch (error) {
      throw toTradeError(error);
    }
  }
}

/** The limits the service knows too; it refuses early what would be refused here. */
function serverLimits({ maxPriceImpact, maxPriorityCost }: TradeLimits) {
  return {
    ...(maxPriceImpact === undefined ? {} : { maxPriceImpact }),
    ...(maxPriorityCost === undefined ? {} : { maxPriorityCost }),
  };
}

/**
 * A challenge is a text about this wallet that cannot be the bytes of a transaction, so that registering never signs a trade.
 * @throws TradeError UNEXPECTED_CHALLENGE
 */
function checkChallenge(message: string, walletAddress: string): void {
  const lines = message.split("\n");
  const plain = [...message].every((character) => character === "\n" || (character >= " " && character !== "\x7f"));
  if (plain && lines.length >= 2 && lines[1] === walletAddress) return;
  throw new TradeError(
    "UNEXPECTED_CHALLENGE",
    "The service asked to sign something other than a registration of this wallet. Nothing was signed.",
  );
}

/** @throws TradeError PRICE_MOVED when the new build is worse than the first by more than the fraction */
function checkPriceMove(first: BuiltResponse, next: BuiltResponse, maxPriceMove: number): void {
  const price = ({ estimates }: BuiltResponse) =>
    Number(estimates?.outputAmountRaw) / Number(estimates?.inputAmountRaw);
  if (price(next) >= price(first) * (1 - maxPriceMove)) return;
  throw new TradeError(
    "PRICE_MOVED",
    `The transaction expired, and the price is now worse by more than ${maxPriceMove}. Nothing was signed again.`,
    { safeToRebuild: true },
  );
}

function namingTransaction(failure: TradeError, signature: string): TradeError {
  if (failure.signature !== undefined) return failure;
  const { code, message, retryable, safeToRebuild, field, requestId, retryAfterMs } = failure;
  return new TradeError(code, message, {
    retryable,
    safeToRebuild,
    field,
    requestId,
    retryAfterMs,
    signature,
    cause: failure.cause,
  });
}

/** Waits, unless the caller gives up first. @throws TradeError ABORTED */
function pause(ms: number, signal: AbortSignal, signature: string): Promise<void> {
  const aborted = () =>
    new TradeError("ABORTED", "Waiting was given up; the transaction may still land: ask for it by its signature.", {
      signature,
    });
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(aborted());
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(aborted());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
