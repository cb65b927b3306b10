import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
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
import { createBinaryTransport } from "./connect-transport.ts";
import { toTradeError } from "./connection/connect-error.ts";
import { createKeepAlive, type KeepAlive } from "./connection/keep-alive.ts";
import type { BuiltResponse, CallControl, ConnectOptions, LookupTableReader, TradeOptions } from "./options.ts";
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
import { checkPriceMove } from "./rebuild.ts";
import { checkChallenge, signTransaction } from "./signing/sign-transaction.ts";
import { signatureBytes } from "./signing/wire-layout.ts";
import { attachSignature, pause } from "./submission.ts";
import { type Trade, toTrade } from "./trade.ts";
import { TradeError } from "./trade-error.ts";
import { type LookupTables, lookupTablesOf } from "./verify/read-transaction.ts";
import { expectTrade, type TradeLimits, type TradeOrder } from "./verify/trade-expectation.ts";
import { verifyTransaction } from "./verify/verify-transaction.ts";
import { toWallet, type Wallet } from "./wallet.ts";

interface KnownBuild {
  readonly order: TradeOrder;
  readonly limits: TradeLimits;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_KEEP_ALIVE_MS = 60_000;
/** How long to repeat a submit that is pending or lost its connection. The chain decides well within it. */
const SUBMIT_PATIENCE_MS = 120_000;
const SUBMIT_PAUSE_MS = 500;

/** A client of the service for one wallet. One call builds a trade, verifies it, signs it locally and submits it. */
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
        "Tradewire: verification is OFF. This client signs whatever the service builds, even a transaction that empties this wallet.",
      );
    }
  }

  /** Creates a client for one wallet; sends nothing yet. @throws TypeError for an unsupported wallet */
  static connect(options: ConnectOptions): Tradewire {
    return new Tradewire(options);
  }

  /** The API key in use. */
  get apiKey(): string | undefined {
    return this.#apiKey;
  }

  /**
   * Registers the wallet by signing a challenge and uses the new API key from then on. Store the key: the service never
   * shows it again. @throws TradeError
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

  /** Revokes an API key of this account. @throws TradeError NOT_FOUND */
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

  /** Builds a sale; nothing is signed. @throws TradeError, TypeError unless the order has exactly one of its two amounts */
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

  /** The current cost of each priority level. @throws TradeError */
  priorities(control: CallControl = {}): Promise<GetPriorityResponse> {
    return this.#call(() => this.#trades.getPriority({}, this.#options(control)));
  }

  /**
   * Verifies that the transaction is the trade that was ordered, then signs it. `built` comes from a build call of this client.
   * @param limits replace those of the build call
   * @throws TradeError UNEXPECTED_TRANSACTION, UNREADABLE_TRANSACTION, PRICE_IMPACT_TOO_HIGH, PRIORITY_COST_TOO_HIGH, LIMIT_EXCEEDED
   */
  async sign(built: BuiltResponse, limits?: TradeLimits): Promise<Uint8Array> {
    if (this.#verifies) await this.#verify(built, limits);
    return signTransaction(this.wallet, built.unsignedTransaction);
  }

  /**
   * Submits a signed transaction and waits until the chain decides. Submitting the same bytes again is always safe, so the
   * call repeats after lost connections and undecided responses.
   *
   * @throws TradeError with the transaction's signature; `safeToRebuild` is true if the transaction can no longer land
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
        // A processed block may still be dropped, so it decides nothing.
        const isDecided = trade.status !== "pending" && trade.status !== "processed";
        if (isDecided || Date.now() > until) return trade;
      } catch (error) {
        const failure = toTradeError(error);
        if (!failure.retryable || Date.now() > until) throw attachSignature(failure, signature);
        pauseMs = failure.retryAfterMs ?? SUBMIT_PAUSE_MS;
      }
      await pause(pauseMs, this.#signal(control), signature);
    }
  }

  /** The state of one of this account's trades. @throws TradeError TRADE_NOT_FOUND, or the error the trade ended with */
  getTrade(signature: string, control: CallControl = {}): Promise<Trade> {
    return this.#call(async () => toTrade(await this.#trades.getTrade({ signature }, this.#options(control))));
  }

  /** Yields the state of a trade now and on each change, until it is final. @throws TradeError */
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

  /** Stops keep-alive pings and aborts pending calls. Submitted transactions may still land. */
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
        "This client did not make this build, so it has no order to compare it with. Nothing was signed.",
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

/** The limits that the service checks too, so that it refuses before it builds. */
function serverLimits({ maxPriceImpact, maxPriorityCost }: TradeLimits) {
  return {
    ...(maxPriceImpact === undefined ? {} : { maxPriceImpact }),
    ...(maxPriorityCost === undefined ? {} : { maxPriorityCost }),
  };
}
