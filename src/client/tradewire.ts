import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import bs58 from "bs58";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import {
  type BuyResponseSchema,
  type SellResponseSchema,
  type SwapResponseSchema,
  TradeService,
  WatchTradeResponseSchema,
} from "../../gen/tradewire/v1/trade_pb.ts";
import type { ApiKey, BuiltResponse, PriceQuote, PriorityPrices } from "./answers.ts";
import { toTradeError } from "./connection/connect-error.ts";
import { createBinaryTransport } from "./connection/connect-transport.ts";
import { createKeepAlive, type KeepAlive } from "./connection/keep-alive.ts";
import { refuseUnknownKeys } from "./known-keys.ts";
import { LIMIT_KEYS, type TradeLimits } from "./limits.ts";
import {
  type CallControl,
  CONNECT_KEYS,
  CONTROL_KEYS,
  type ConnectOptions,
  type LookupTableReader,
  type ProofOptions,
  REBUILD_KEYS,
  TRADE_KEYS,
  type TradeOptions,
} from "./options.ts";
import {
  BUY_KEYS,
  type BuyOrder,
  buyAsTrade,
  PRIORITIES,
  SELL_KEYS,
  type SellOrder,
  SWAP_KEYS,
  SWAP_MODES,
  type SwapOrder,
  saleAsTrade,
  swapAsTrade,
} from "./order.ts";
import { type Plain, plainAnswer } from "./plain-answer.ts";
import type { TradeProof, TradeWitnesses } from "./proof/prove-trade.ts";
import { quoteReference } from "./proof/quote-reference.ts";
import { referenceOptions } from "./proof/reference.ts";
import { isNoWorse, type TradeReview, unverified } from "./proof/review.ts";
import { type VerifiedBuild, verifyBuild } from "./proof/verify-build.ts";
import { awaitExpiry, checkPriceMove } from "./trading/rebuild.ts";
import { checkChallenge } from "./registration.ts";
import { signTransaction } from "./signature/signing.ts";
import { signatureBytes } from "./signature/wire-layout.ts";
import { afterSigning, answerWithin, submitUntilDecided } from "./trading/submission.ts";
import { checkTrade, type Trade, type TradeUpdate } from "./trade.ts";
import { TradeError } from "./trade-error.ts";
import type { LookupTables } from "./verify/read-transaction.ts";
import type { TradeExpectation, TradeOrder } from "./verify/trade-expectation.ts";
import { toWallet, type Wallet } from "./wallet.ts";

interface KnownBuild {
  readonly order: TradeOrder;
  readonly limits: TradeLimits & ProofOptions;
}

/** A finished trade, and what of it only the service's word supports. */
export interface ProvenTrade extends Trade, TradeProof {}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_KEEP_ALIVE_MS = 60_000;
/** How long to repeat a submit that is pending or lost its connection. The chain decides well within it. */
const SUBMIT_PATIENCE_MS = 120_000;
/** A build that took longer than this to confirm is made anew: transactions live about half a minute. Milliseconds. */
const LONGEST_CONFIRMATION_MS = 15_000;
/** Signed transactions whose meaning is remembered, to hold answers against. */
const MOST_REMEMBERED = 1_000;

/** A client of the service for one wallet. One call builds a trade, verifies it, signs it locally and submits it. */
export class Tradewire {
  readonly wallet: Wallet;
  readonly #baseUrl: string;
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  readonly #verifies: boolean;
  readonly #lookupTables: LookupTables | LookupTableReader | undefined;
  readonly #keepAlive: KeepAlive | undefined;
  readonly #closing = new AbortController();
  readonly #builds = new WeakMap<BuiltResponse, KnownBuild>();
  readonly #signed = new Map<string, TradeExpectation>();
  readonly #decimals: Readonly<Record<string, number>>;
  readonly #domain: string | undefined;
  readonly #witnesses: TradeWitnesses;
  #apiKey: string | undefined;

  private constructor(options: ConnectOptions) {
    refuseUnknownKeys(options, CONNECT_KEYS, "the options of connect");
    this.#decimals = options.decimals ?? {};
    this.#domain = options.domain;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.wallet = toWallet(options.wallet);
    this.#apiKey = options.apiKey;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#verifies = options.verify !== "off";
    this.#lookupTables = options.lookupTables;
    const idleMs = options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
    this.#keepAlive = idleMs > 0 ? createKeepAlive(() => this.ping(), idleMs) : undefined;
    this.#transport = options.transport ?? createBinaryTransport(this.#baseUrl);
    this.#witnesses = witnessesOf(options, this.wallet, this.#baseUrl);
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
    refuseUnknownKeys(options, { ...CONTROL_KEYS, label: true, revokeOthers: true }, "the options of register");
    const walletAddress = this.wallet.publicKey.toString();
    const { createChallenge, register } = AccountService.method;
    const { message } = await this.#unary(createChallenge, { walletAddress }, options);
    const terms = { walletAddress, baseUrl: this.#baseUrl, domain: this.#domain, nowMs: Date.now() };
    checkChallenge(message, terms);
    const signature = bs58.encode(await this.wallet.signMessageBytes(new TextEncoder().encode(message)));
    const proof = {
      walletAddress,
      message,
      signature,
      label: options.label ?? "",
      revokeOthers: options.revokeOthers ?? false,
    };
    const { apiKey, keyId } = await this.#unary(register, proof, options);
    this.#apiKey = apiKey;
    return { apiKey, keyId };
  }

  /** The account that the API key belongs to. @throws TradeError */
  async profile(control: CallControl = {}): Promise<{ accountId: string; walletAddress: string; createdAt: string }> {
    const { accountId, walletAddress, createdAt } = await this.#unary(AccountService.method.getProfile, {}, control);
    return { accountId, walletAddress, createdAt };
  }

  /** The API keys of this account, without their secrets. @throws TradeError */
  async keys(control: CallControl = {}): Promise<readonly ApiKey[]> {
    return (await this.#unary(AccountService.method.listKeys, {}, control)).keys;
  }

  /** Revokes an API key of this account. @throws TradeError NOT_FOUND */
  async revokeKey(keyId: string, control: CallControl = {}): Promise<void> {
    await this.#unary(AccountService.method.revokeKey, { keyId }, control);
  }

  /** Builds, verifies, signs and submits a buy. @throws TradeError */
  buy(order: BuyOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(() => this.buildBuy(order, options), options);
  }

  /** Builds, verifies, signs and submits a sale. @throws TradeError */
  sell(order: SellOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(() => this.buildSell(order, options), options);
  }

  /** Builds, verifies, signs and submits a swap. @throws TradeError */
  swap(order: SwapOrder, options: TradeOptions = {}): Promise<ProvenTrade> {
    return this.#trade(() => this.buildSwap(order, options), options);
  }

  /** Builds a buy; nothing is signed. @throws TradeError */
  async buildBuy(order: BuyOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    refuseUnknownKeys(order, BUY_KEYS, "the order");
    const request = { ...order, ...serverLimits(options), priority: PRIORITIES[order.priority] };
    return this.#build(buyAsTrade(order), options, TradeService.method.buy, request);
  }

  /** Builds a sale; nothing is signed. @throws TradeError, TypeError unless the order has exactly one of its two amounts */
  async buildSell(order: SellOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    refuseUnknownKeys(order, SELL_KEYS, "the order");
    const trade = saleAsTrade(order);
    const request = {
      mint: order.mint,
      ...(order.tokenAmount === undefined ? {} : { tokenAmount: order.tokenAmount }),
      ...(order.sellPercent === undefined ? {} : { sellPercent: order.sellPercent }),
      slippage: order.slippage,
      ...serverLimits(options),
      priority: PRIORITIES[order.priority],
    };
    return this.#build(trade, options, TradeService.method.sell, request);
  }

  /** Builds a swap; nothing is signed. @throws TradeError */
  async buildSwap(order: SwapOrder, options: TradeLimits & ProofOptions & CallControl = {}): Promise<BuiltResponse> {
    refuseUnknownKeys(order, SWAP_KEYS, "the order");
    const { priority, swapMode, ...rest } = order;
    const request = {
      ...rest,
      ...serverLimits(options),
      priority: PRIORITIES[priority],
      swapMode: SWAP_MODES[swapMode],
    };
    return this.#build(swapAsTrade(order), options, TradeService.method.swap, request);
  }

  /** Prices a swap without building it. @throws TradeError */
  async quote(order: Omit<SwapOrder, "priority">, control: CallControl = {}): Promise<PriceQuote> {
    refuseUnknownKeys(order, SWAP_KEYS, "the order");
    const request = { ...order, swapMode: SWAP_MODES[order.swapMode], maxTransactionVersion: 1 };
    return this.#unary(TradeService.method.quote, request, control);
  }

  /** The current cost of each priority level. @throws TradeError */
  priorities(control: CallControl = {}): Promise<PriorityPrices> {
    return this.#unary(TradeService.method.getPriority, {}, control);
  }

  /**
   * Verifies that the transaction is the trade that was ordered, then signs it. `built` comes from a build call of this client.
   * @param limits replace those of the build call
   * @throws TradeError UNEXPECTED_TRANSACTION, UNREADABLE_TRANSACTION, DECIMALS_REQUIRED, PRICE_IMPACT_TOO_HIGH,
   * PRIORITY_COST_TOO_HIGH, LIMIT_EXCEEDED; TypeError for an unknown or malformed limit
   */
  async sign(built: BuiltResponse, limits?: TradeLimits & ProofOptions): Promise<Uint8Array> {
    // What is verified is what is signed, whatever happens to the response in between.
    const wire = built.unsignedTransaction.slice();
    const verified = this.#verifies ? await this.#verify(built, wire, limits) : undefined;
    return this.#signVerified(wire, verified?.expected);
  }

  /**
   * Verifies a build as `sign` does, and signs nothing.
   * @returns what the bytes allow, and what of the trade only the service's word supports @throws TradeError as `sign`
   */
  async verify(built: BuiltResponse, limits?: TradeLimits & ProofOptions): Promise<TradeReview> {
    return (await this.#verify(built, built.unsignedTransaction.slice(), limits)).review;
  }

  /**
   * Submits a signed transaction and waits until the chain decides. Submitting the same bytes again is always safe, so the
   * call repeats after lost connections and undecided responses.
   *
   * @throws TradeError with the transaction's signature; `safeToRebuild` is true if the transaction can no longer land
   */
  async submit(submissionToken: string, signedTransaction: Uint8Array, control: CallControl = {}): Promise<Trade> {
    refuseUnknownKeys(control, TRADE_KEYS, "the options of submit");
    const signature = bs58.encode(signatureBytes(signedTransaction));
    const request = { submissionToken, signedTransaction };
    const send = (timeoutMs: number) => this.#unary(TradeService.method.submit, request, { ...control, timeoutMs });
    return submitUntilDecided(send, {
      signature,
      expected: this.#signed.get(signature),
      patienceMs: control.patienceMs ?? SUBMIT_PATIENCE_MS,
      timeoutMs: control.timeoutMs ?? this.#timeoutMs,
      signal: this.#signal(control),
    });
  }

  /** The state of one of this account's trades. @throws TradeError TRADE_NOT_FOUND, or the error the trade ended with */
  async getTrade(signature: string, control: CallControl = {}): Promise<Trade> {
    try {
      const trade = await this.#unary(TradeService.method.getTrade, { signature }, control);
      return checkTrade(trade, signature, this.#signed.get(signature));
    } catch (error) {
      throw afterSigning(toTradeError(error), signature);
    }
  }

  /** Yields the state of a trade now and on each change, until it is final. @throws TradeError */
  async *watchTrade(signature: string, control: CallControl = {}): AsyncGenerator<TradeUpdate, void, undefined> {
    try {
      const { watchTrade } = TradeService.method;
      const request = (async function* () {
        yield { signature };
      })();
      const { message: updates } = await this.#transport.stream(
        watchTrade,
        this.#signal(control),
        undefined,
        this.#headers(),
        request,
      );
      for await (const message of updates) {
        this.#keepAlive?.touch();
        yield checkTrade(plainAnswer(WatchTradeResponseSchema, message), signature, this.#signed.get(signature));
      }
    } catch (error) {
      throw afterSigning(toTradeError(error), signature);
    }
  }

  /** Keeps the connection to the service open. @throws TradeError */
  async ping(control: CallControl = {}): Promise<void> {
    await this.#call(control, async () => {
      const signals = [this.#signal(control), AbortSignal.timeout(Math.ceil(control.timeoutMs ?? this.#timeoutMs))];
      const response = await fetch(`${this.#baseUrl}/v1/ping`, { signal: AbortSignal.any(signals), redirect: "error" });
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

  async #build<
    I extends DescMessage,
    O extends typeof BuyResponseSchema | typeof SellResponseSchema | typeof SwapResponseSchema,
  >(
    order: TradeOrder,
    options: TradeLimits & ProofOptions & CallControl,
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<BuiltResponse> {
    refuseUnknownKeys(options, TRADE_KEYS, "the options of the trade");
    const built = await this.#unary(method, request, options);
    this.#builds.set(built, { order, limits: limitsOf(options) });
    return built;
  }

  async #verify(
    built: BuiltResponse,
    wire: Uint8Array,
    given: (TradeLimits & ProofOptions) | undefined,
    signal: AbortSignal = this.#closing.signal,
  ): Promise<VerifiedBuild> {
    const known = this.#builds.get(built);
    if (known === undefined) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "This client did not make this build, so it has no order to compare it with. Nothing was signed.",
      );
    }
    const { requireProof = this.#witnesses.requireProof, ...limits } = given ?? known.limits;
    const verifier = {
      wallet: this.wallet,
      witnesses: { ...this.#witnesses, requireProof },
      decimals: this.#decimals,
      lookupTables: this.#lookupTables,
    };
    return verifyBuild(verifier, known.order, built, wire, limits, signal);
  }

  async #signVerified(wire: Uint8Array, expected: TradeExpectation | undefined): Promise<Uint8Array> {
    const signed = await signTransaction(this.wallet, wire);
    if (expected !== undefined) this.#remember(bs58.encode(signatureBytes(signed)), expected);
    return signed;
  }

  #remember(signature: string, expected: TradeExpectation): void {
    this.#signed.set(signature, expected);
    const [oldest] = this.#signed.keys();
    if (this.#signed.size > MOST_REMEMBERED && oldest !== undefined) this.#signed.delete(oldest);
  }

  async #trade(build: () => Promise<BuiltResponse>, options: TradeOptions): Promise<ProvenTrade> {
    refuseUnknownKeys(options.rebuild, REBUILD_KEYS, "rebuild");
    const first = await build();
    let built = first;
    let previous: string | undefined;
    for (let rebuilds = 0; ; rebuilds++) {
      const { review, signed } = await this.#signAnother(built, build, previous, options);
      const signature = bs58.encode(signatureBytes(signed));
      previous = signature;
      options.onProgress?.({ step: "signed", signature });
      options.onProgress?.({ step: "waiting", signature });
      try {
        const trade = await this.submit(review.built.submissionToken, signed, options);
        return { ...trade, unproven: review.unproven, findings: review.findings };
      } catch (error) {
        const expired = error instanceof TradeError && error.code === "TX_EXPIRED" && error.safeToRebuild === true;
        const { rebuild } = options;
        if (!expired || rebuild === undefined || !(rebuilds < rebuild.times)) throw error;
        if (rebuild.proveExpiry !== undefined && !(await rebuild.proveExpiry(signature, review.built))) throw error;
        built = await this.#buildAgain(build, review, signed, options);
        checkPriceMove(first, built, rebuild.maxPriceMove, signature);
      }
    }
  }

  /** Builds again once the caller's node, if there is one, has seen the signed transaction expire. */
  async #buildAgain(
    build: () => Promise<BuiltResponse>,
    { findings }: TradeReview,
    signed: Uint8Array,
    options: TradeOptions,
  ): Promise<BuiltResponse> {
    const signature = bs58.encode(signatureBytes(signed));
    try {
      await awaitExpiry(this.#witnesses.node, signed, signature, findings?.slot, this.#signal(options));
      options.onProgress?.({ step: "expired", signature });
      return await build();
    } catch (error) {
      throw afterSigning(toTradeError(error), signature);
    }
  }

  /** Verifies, reports, confirms and signs a build. After an earlier signature, a failure names it: something was signed. */
  async #signAnother(
    built: BuiltResponse,
    build: () => Promise<BuiltResponse>,
    previous: string | undefined,
    options: TradeOptions,
  ) {
    try {
      return await this.#confirmAndSign(built, build, options);
    } catch (error) {
      if (previous === undefined || !(error instanceof TradeError)) throw error;
      throw afterSigning(error, previous);
    }
  }

  /** A build that took long to confirm is made anew, and confirmed again unless its terms are as good. */
  async #confirmAndSign(first: BuiltResponse, build: () => Promise<BuiltResponse>, options: TradeOptions) {
    let built = first;
    let accepted: TradeReview | undefined;
    for (;;) {
      const wire = built.unsignedTransaction.slice();
      const verified = this.#verifies
        ? await this.#verify(built, wire, limitsOf(options), this.#signal(options))
        : { expected: undefined, review: unverified(built, this.#builds.get(built)?.order) };
      const { review, expected } = verified;
      options.onProgress?.({ step: "built", built });
      const askedAt = performance.now();
      const isAccepted = accepted !== undefined && isNoWorse(review, accepted);
      if (!isAccepted && options.confirm !== undefined && (await options.confirm(review)) !== true) {
        throw new TradeError("DECLINED", "The trade was declined. Nothing was signed.");
      }
      if (performance.now() - askedAt < LONGEST_CONFIRMATION_MS) {
        return { review, signed: await this.#signVerified(wire, expected) };
      }
      accepted = review;
      built = await build();
    }
  }

  #signal({ signal }: CallControl): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  #headers(): Record<string, string> {
    return this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` };
  }

  /** One call, ended on time whatever the transport does. Its answer is a plain object. */
  #unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    control: CallControl,
  ): Promise<Plain<MessageShape<O>>> {
    const timeoutMs = control.timeoutMs ?? this.#timeoutMs;
    return this.#call(control, async () => {
      const answer = this.#transport.unary(method, this.#signal(control), timeoutMs, this.#headers(), request);
      return plainAnswer(method.output, (await answer).message);
    });
  }

  async #call<T>(control: CallControl, call: () => Promise<T>): Promise<T> {
    this.#keepAlive?.touch();
    try {
      return await answerWithin(control.timeoutMs ?? this.#timeoutMs, this.#signal(control), call());
    } catch (error) {
      throw toTradeError(error);
    }
  }
}

/** The limits among the options of a trade. */
function limitsOf(options: TradeOptions): TradeLimits & ProofOptions {
  const isLimit = (name: string) => Object.hasOwn(LIMIT_KEYS, name) || name === "requireProof";
  return Object.fromEntries(Object.entries(options).filter(([name]) => isLimit(name)));
}

/** The limits that the service checks too, so that it refuses before it builds. */
function serverLimits({ maxPriceImpact, maxPriorityCost }: TradeLimits) {
  return {
    // This library reads and signs both versions.
    maxTransactionVersion: 1,
    ...(maxPriceImpact === undefined ? {} : { maxPriceImpact }),
    ...(maxPriorityCost === undefined ? {} : { maxPriorityCost }),
  };
}

/** What a client has to prove trades with. @throws TypeError for a malformed option */
function witnessesOf(options: ConnectOptions, wallet: Wallet, baseUrl: string): TradeWitnesses {
  const { node, reference, requireProof = false } = options;
  if (node !== undefined && typeof node?.check !== "function") {
    throw new TypeError('node is what rpcNode(url) of "tradewire/node" returns.');
  }
  if (reference === undefined) return { node, reference, tolerance: undefined, requireProof };
  const { source, apiKey, tolerance } = referenceOptions(reference);
  if (typeof source === "function") return { node, reference: source, tolerance, requireProof };
  const url = source.replace(/\/+$/, "");
  if (new URL(url).origin === new URL(baseUrl).origin) {
    throw new TypeError("The reference is the service itself, which is no second opinion.");
  }
  const other = Tradewire.connect({ baseUrl: url, wallet, apiKey, keepAliveMs: 0 });
  return { node, reference: quoteReference(other), tolerance, requireProof };
}
