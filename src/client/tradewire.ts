import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { monotonicMs } from "../primitives/clock.ts";
import { encodeBase58 } from "../primitives/encoding/base58.ts";
import type { ApiKey, BuiltResponse, ListedTrades, PriceQuote, PriorityPrices } from "./answers/answers.ts";
import type { TradeStatusName } from "./answers/plain-answer.ts";
import { toTradeError } from "./connection/connect-error.ts";
import { ServiceCalls } from "./connection/service-calls.ts";
import { copyOf, refuseUnknownKeys } from "./order/known-keys.ts";
import type { RouteLimits, TradeLimits } from "./order/limits.ts";
import {
  type CallControl,
  CONNECT_KEYS,
  CONTROL_KEYS,
  type ConnectOptions,
  type ProofOptions,
  TRADE_KEYS,
  type TradeOptions,
} from "./order/options.ts";
import {
  BUY_KEYS,
  type BuyOrder,
  SELL_KEYS,
  type SellOrder,
  type SettledOrder,
  SWAP_KEYS,
  type SwapOrder,
} from "./order/order.ts";
import { timerMs } from "./order/times.ts";
import type { TradeReview } from "./proof/review.ts";
import { witnessesOf } from "./proof/witnesses.ts";
import { checkChallenge } from "./registration.ts";
import { signatureBytes } from "./signature/wire-layout.ts";
import { checkTrade, type Trade, type TradeUpdate } from "./trade.ts";
import { TradeError } from "./trade-error.ts";
import { type SlippageAsk, settleSlippage } from "./trading/auto-slippage.ts";
import {
  buyRequest,
  listRequest,
  quoteRequest,
  saleRequest,
  swapRequest,
  type TradeFilter,
} from "./trading/requests.ts";
import { ofLookup, submitUntilDecided } from "./trading/submission.ts";
import { type ProvenTrade, TradeDesk } from "./trading/trade-desk.ts";
import type { TradeOrder } from "./verify/trade-expectation.ts";
import { toWallet, type Wallet } from "./wallet.ts";

/** How long to repeat a submit that is pending or lost its connection. The chain decides well within it. */
const SUBMIT_PATIENCE_MS = 120_000;

/** A client of the service for one wallet. One call builds a trade, verifies it, signs it locally and submits it. */
export class Tradewire {
  readonly wallet: Wallet;
  readonly #calls: ServiceCalls;
  readonly #desk: TradeDesk;
  readonly #domain: string | undefined;

  private constructor(options: ConnectOptions) {
    refuseUnknownKeys(options, CONNECT_KEYS, "the options of connect");
    this.#domain = options.domain;
    this.wallet = toWallet(options.wallet);
    this.#calls = new ServiceCalls(options, this.wallet.signsVersion1 !== false, () => this.ping());
    const connect = (other: { readonly baseUrl: string; readonly apiKey: string | undefined }) =>
      Tradewire.connect({ ...other, wallet: this.wallet, keepAliveMs: 0 });
    const witnesses = witnessesOf(options, this.#calls.baseUrl, connect);
    const { decimals = {}, lookupTables } = options;
    const verifies = options.verify !== "off";
    this.#desk = new TradeDesk({ wallet: this.wallet, witnesses, decimals, lookupTables }, verifies, monotonicMs);
    if (!verifies) {
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
    return this.#calls.apiKey;
  }

  /**
   * Registers the wallet by signing a challenge and uses the new API key from then on. Store the key: the service never
   * shows it again. @throws TradeError
   */
  async register(
    options: CallControl & { readonly label?: string | undefined; readonly revokeOthers?: boolean | undefined } = {},
  ): Promise<{ apiKey: string; keyId: string }> {
    refuseUnknownKeys(options, { ...CONTROL_KEYS, label: true, revokeOthers: true }, "the options of register");
    const walletAddress = this.wallet.publicKey.toString();
    const { createChallenge, register } = AccountService.method;
    const { message } = await this.#calls.unary(createChallenge, { walletAddress }, options);
    const terms = { walletAddress, baseUrl: this.#calls.baseUrl, domain: this.#domain, nowMs: Date.now() };
    checkChallenge(message, terms);
    const signature = encodeBase58(await this.wallet.signMessageBytes(new TextEncoder().encode(message)));
    const proof = {
      walletAddress,
      message,
      signature,
      label: options.label ?? "",
      revokeOthers: options.revokeOthers ?? false,
    };
    const { apiKey, keyId } = await this.#calls.unary(register, proof, options);
    this.#calls.apiKey = apiKey;
    return { apiKey, keyId };
  }

  /** The account that the API key belongs to. @throws TradeError */
  async profile(control: CallControl = {}): Promise<{ accountId: string; walletAddress: string; createdAt: string }> {
    const { accountId, walletAddress, createdAt } = await this.#calls.unary(
      AccountService.method.getProfile,
      {},
      control,
    );
    return { accountId, walletAddress, createdAt };
  }

  /** The API keys of this account, without their secrets. @throws TradeError */
  async keys(control: CallControl = {}): Promise<readonly ApiKey[]> {
    return (await this.#calls.unary(AccountService.method.listKeys, {}, control)).keys;
  }

  /** Revokes an API key of this account. @throws TradeError NOT_FOUND */
  async revokeKey(keyId: string, control: CallControl = {}): Promise<void> {
    await this.#calls.unary(AccountService.method.revokeKey, { keyId }, control);
  }

  /** Builds, verifies, signs and submits a buy. @throws TradeError */
  buy(order: BuyOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(order, BUY_KEYS, options, (asked, allowed) => this.buildBuy(asked, allowed));
  }

  /** Builds, verifies, signs and submits a sale. @throws TradeError */
  sell(order: SellOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(order, SELL_KEYS, options, (asked, allowed) => this.buildSell(asked, allowed));
  }

  /** Builds, verifies, signs and submits a swap. @throws TradeError */
  swap(order: SwapOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(order, SWAP_KEYS, options, (asked, allowed) => this.buildSwap(asked, allowed));
  }

  /** Builds a buy; nothing is signed. @throws TradeError, TypeError unless the order has exactly one of its two amounts */
  async buildBuy(order: BuyOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    const [asked, allowed] = [copyOf(order, BUY_KEYS), copyOf(options, TRADE_KEYS)];
    const { mint, solAmount, solAmountRaw } = asked;
    const pair = { inputMint: "SOL", outputMint: mint, swapMode: "exactIn" } as const;
    const ask = { ...pair, amount: solAmount, amountRaw: solAmountRaw };
    const { settled, basis } = await this.#settle(asked, ask, allowed);
    const { trade, request } = buyRequest(settled, allowed);
    return this.#build({ ...trade, slippageBasis: basis }, allowed, () =>
      this.#calls.unary(TradeService.method.buy, request, allowed),
    );
  }

  /** Builds a sale; nothing is signed. @throws TradeError, TypeError unless the order has exactly one of its three amounts */
  async buildSell(order: SellOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    const [asked, allowed] = [copyOf(order, SELL_KEYS), copyOf(options, TRADE_KEYS)];
    const { mint, tokenAmount, tokenAmountRaw } = asked;
    const pair = { inputMint: mint, outputMint: "SOL", swapMode: "exactIn" } as const;
    const ask = { ...pair, amount: tokenAmount, amountRaw: tokenAmountRaw };
    const { settled, basis } = await this.#settle(asked, ask, allowed);
    const { trade, request } = saleRequest(settled, allowed);
    return this.#build({ ...trade, slippageBasis: basis }, allowed, () =>
      this.#calls.unary(TradeService.method.sell, request, allowed),
    );
  }

  /** Builds a swap; nothing is signed. @throws TradeError, TypeError unless the order has exactly one of its two amounts */
  async buildSwap(order: SwapOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    const [asked, allowed] = [copyOf(order, SWAP_KEYS), copyOf(options, TRADE_KEYS)];
    const { settled, basis } = await this.#settle(asked, asked, allowed);
    const { trade, request } = swapRequest(settled, allowed);
    return this.#build({ ...trade, slippageBasis: basis }, allowed, () =>
      this.#calls.unary(TradeService.method.swap, request, allowed),
    );
  }

  /** Prices a swap without building it, within the given limits on the route. @throws TradeError */
  async quote(
    order: Omit<SettledOrder<SwapOrder>, "priority">,
    options: RouteLimits & CallControl & { readonly worstCase?: boolean | undefined } = {},
  ): Promise<PriceQuote> {
    return this.#calls.unary(TradeService.method.quote, quoteRequest(order, options), options);
  }

  /** The current cost of each priority level. @throws TradeError */
  priorities(control: CallControl = {}): Promise<PriorityPrices> {
    return this.#calls.unary(TradeService.method.getPriority, {}, control);
  }

  /**
   * Verifies that the transaction is the trade that was ordered, then signs it. `built` comes from a build call of this client.
   * @param limits added to those of the build call; of two with the same name, these count
   * @throws TradeError UNEXPECTED_TRANSACTION, UNREADABLE_TRANSACTION, DECIMALS_REQUIRED, PRICE_IMPACT_TOO_HIGH,
   * PRIORITY_COST_TOO_HIGH, LIMIT_EXCEEDED; TypeError for an unknown or malformed limit
   */
  async sign(built: BuiltResponse, limits?: TradeLimits & ProofOptions): Promise<Uint8Array> {
    return this.#desk.sign(built, limits, this.#calls.signal({}));
  }

  /**
   * Verifies a build as `sign` does, and signs nothing.
   * @returns what the bytes allow, and which parts of the trade only the service's word supports @throws TradeError as `sign`
   */
  async verify(built: BuiltResponse, limits?: TradeLimits & ProofOptions): Promise<TradeReview> {
    const wire = built.unsignedTransaction.slice();
    return (await this.#desk.verify(built, wire, limits, this.#calls.signal({}))).review;
  }

  /**
   * Submits a signed transaction and waits until the chain decides. Submitting the same bytes again is always safe, so the
   * call repeats after lost connections and undecided responses.
   *
   * @throws TradeError with the transaction's signature; `safeToRebuild` is true if the transaction can no longer land
   */
  async submit(submissionToken: string, signedTransaction: Uint8Array, options: CallControl = {}): Promise<Trade> {
    const control = copyOf(options, CONTROL_KEYS);
    refuseUnknownKeys(control, TRADE_KEYS, "the options of submit");
    const signature = encodeBase58(signatureBytes(signedTransaction));
    const request = { submissionToken, signedTransaction };
    const send = (timeoutMs: number) =>
      this.#calls.unary(TradeService.method.submit, request, { ...control, timeoutMs });
    return submitUntilDecided(send, {
      signature,
      expected: this.#desk.expectedOf(signature),
      patienceMs: timerMs(control.patienceMs ?? SUBMIT_PATIENCE_MS, "patienceMs"),
      timeoutMs: timerMs(control.timeoutMs ?? this.#calls.timeoutMs, "timeoutMs"),
      signal: this.#calls.signal(control),
      nowMs: monotonicMs,
    });
  }

  /** The state of one of this account's trades. @throws TradeError TRADE_NOT_FOUND, or the error the trade ended with */
  async getTrade(signature: string, control: CallControl = {}): Promise<Trade> {
    try {
      const trade = await this.#calls.unary(TradeService.method.getTrade, { signature }, control);
      return checkTrade(trade, signature, this.#desk.expectedOf(signature));
    } catch (error) {
      throw ofLookup(toTradeError(error), signature, this.#desk.expectedOf(signature));
    }
  }

  /** A page of this account's trades, newest first. @throws TradeError, TypeError for an unknown key or status */
  async listTrades(filter: TradeFilter = {}, control: CallControl = {}): Promise<ListedTrades> {
    return this.#calls.unary(TradeService.method.listTrades, listRequest(filter), control);
  }

  /** Yields the state of a trade now and on each change, until it is final. @throws TradeError */
  async *watchTrade(signature: string, control: CallControl = {}): AsyncGenerator<TradeUpdate, void, undefined> {
    try {
      const updates = this.#calls.stream(TradeService.method.watchTrade, { signature }, control);
      let status: TradeStatusName | undefined;
      for await (const update of updates) {
        const checked = checkTrade(update, signature, this.#desk.expectedOf(signature));
        status = checked.status;
        yield checked;
      }
      if (status === "finalized") return;
      throw new TradeError("CONNECTION_ERROR", "The stream ended before the trade was final.", { retryable: true });
    } catch (error) {
      throw ofLookup(toTradeError(error), signature, this.#desk.expectedOf(signature));
    }
  }

  /** Keeps the connection to the service open. @throws TradeError */
  ping(control: CallControl = {}): Promise<void> {
    return this.#calls.ping(control);
  }

  /** Stops keep-alive pings and aborts pending calls. Submitted transactions may still land. */
  close(): void {
    this.#calls.close();
  }

  #settle<O extends BuyOrder | SellOrder | SwapOrder>(order: O, ask: SlippageAsk, options: TradeLimits & CallControl) {
    return settleSlippage(order, ask, options, (terms, bounds) => this.quote(terms, bounds));
  }

  async #build(
    order: TradeOrder,
    options: TradeLimits & ProofOptions & CallControl,
    call: () => Promise<BuiltResponse>,
  ): Promise<BuiltResponse> {
    refuseUnknownKeys(options, TRADE_KEYS, "the options of the trade");
    const built = await call();
    this.#desk.ordered(built, order, options);
    return built;
  }

  async #trade<O extends object>(
    order: O,
    keys: Readonly<Record<string, true>>,
    options: TradeOptions,
    build: (asked: O, allowed: TradeOptions) => Promise<BuiltResponse>,
  ): Promise<ProvenTrade> {
    const [asked, allowed] = [copyOf(order, keys), copyOf(options, TRADE_KEYS)];
    const submit = (token: string, signed: Uint8Array) => this.submit(token, signed, allowed);
    return this.#desk.trade(
      { build: () => build(asked, allowed), submit, signal: this.#calls.signal(allowed) },
      allowed,
    );
  }
}
