import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import bs58 from "bs58";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import {
  type BuyResponse,
  type QuoteResponse,
  type SellResponse,
  type SubmitResponse,
  type SwapResponse,
  TradeService,
} from "../../gen/tradewire/v1/trade_pb.ts";
import { Priority, SwapMode, TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";
import { toTradeError } from "./connect-error.ts";
import { signTransaction } from "./signing.ts";
import { TradeError } from "./trade-error.ts";
import { fromBase58, type Wallet } from "./wallet.ts";

const PRIORITIES = {
  economy: Priority.ECONOMY,
  fast: Priority.FAST,
  faster: Priority.FASTER,
  fastest: Priority.FASTEST,
} as const;

const SWAP_MODES = { exactIn: SwapMode.EXACT_IN, exactOut: SwapMode.EXACT_OUT } as const;

/** How far a submitted trade got. */
export type TradeStatusName = "pending" | "processed" | "confirmed" | "finalized";

/** A status this library does not know counts as pending: it is asked for again. */
const STATUSES: ReadonlyMap<number, TradeStatusName> = new Map([
  [TradeStatus.PROCESSED, "processed"],
  [TradeStatus.CONFIRMED, "confirmed"],
  [TradeStatus.FINALIZED, "finalized"],
]);

export type PriorityName = keyof typeof PRIORITIES;

interface TradeOrder {
  /** Decimal fraction, 0 ≤ slippage < 1: 0.05 is 5 %. */
  readonly slippage: number;
  readonly priority: PriorityName;
}

/** Spend exactly `solAmount` SOL on a token. */
export interface BuyOrder extends TradeOrder {
  readonly mint: string;
  readonly solAmount: number;
}

/** Sell exactly `tokenAmount` of a token for SOL. */
export interface SellOrder extends TradeOrder {
  readonly mint: string;
  readonly tokenAmount: number;
}

/** Swap one mint for another, exact on either side. `SOL` is SOL. */
export interface SwapOrder extends TradeOrder {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: number;
  readonly swapMode: keyof typeof SWAP_MODES;
}

/** Limits of the caller's own, checked here before anything is signed. */
export interface TradeLimits {
  /** Refuse when the trade moves the price by more than this fraction: 0.1 is 10 %. */
  readonly maxPriceImpact?: number;
  /** Refuse when priority costs more than this many SOL. */
  readonly maxPriorityCost?: number;
}

/** What became of a trade, measured on the chain. */
export interface Trade {
  readonly signature: string;
  readonly status: TradeStatusName;
  readonly slot: number | undefined;
  readonly platform: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** Absent while the chain's record cannot be read. */
  readonly tradeResult:
    | {
        readonly inputAmount: number;
        readonly outputAmount: number;
        /** Exact base units. */
        readonly inputAmountRaw: string;
        readonly outputAmountRaw: string;
      }
    | undefined;
  /** SOL paid for priority, tips included. */
  readonly priorityCost: number;
}

export interface ConnectOptions {
  /** Where the service is, such as https://trade.example. */
  readonly baseUrl: string;
  /** A wallet, or a base58 private key of 32 or 64 bytes. */
  readonly wallet: Wallet | string;
  /** Absent: `register` gets one. */
  readonly apiKey?: string;
  /** In place of Connect over fetch. */
  readonly transport?: Transport;
  /** Longest wait for one answer. Milliseconds. */
  readonly timeoutMs?: number;
}

type BuiltResponse = BuyResponse | SellResponse | SwapResponse;

const DEFAULT_TIMEOUT_MS = 30_000;
/** How long a submit that is still pending, or whose connection was lost, is asked for again. The chain decides well within it. */
const SUBMIT_PATIENCE_MS = 120_000;
const SUBMIT_PAUSE_MS = 500;

/** The service as one wallet uses it: a trade is one call that builds, checks, signs here and submits. */
export class Tradewire {
  readonly wallet: Wallet;
  readonly #baseUrl: string;
  readonly #trades: Client<typeof TradeService>;
  readonly #accounts: Client<typeof AccountService>;
  readonly #timeoutMs: number;
  #apiKey: string | undefined;

  private constructor(options: ConnectOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.wallet = typeof options.wallet === "string" ? fromBase58(options.wallet) : options.wallet;
    this.#apiKey = options.apiKey;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const transport = options.transport ?? createConnectTransport({ baseUrl: this.#baseUrl, useBinaryFormat: true });
    this.#trades = createClient(TradeService, transport);
    this.#accounts = createClient(AccountService, transport);
  }

  /** A client of the service for one wallet. Nothing is sent yet. @throws TypeError for a private key that is none */
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
    options: { readonly label?: string; readonly revokeOthers?: boolean } = {},
  ): Promise<{ apiKey: string; keyId: string }> {
    const walletAddress = this.wallet.publicKey.toString();
    return this.#call(async () => {
      const { message } = await this.#accounts.createChallenge({ walletAddress }, { timeoutMs: this.#timeoutMs });
      const signature = bs58.encode(await this.wallet.signMessageBytes(new TextEncoder().encode(message)));
      const proof = {
        walletAddress,
        message,
        signature,
        label: options.label ?? "",
        revokeOthers: options.revokeOthers ?? false,
      };
      const { apiKey, keyId } = await this.#accounts.register(proof, { timeoutMs: this.#timeoutMs });
      this.#apiKey = apiKey;
      return { apiKey, keyId };
    });
  }

  /** Builds, checks, signs and submits a buy. @throws TradeError */
  async buy(order: BuyOrder, limits: TradeLimits = {}): Promise<Trade> {
    return this.#trade(await this.buildBuy(order, limits), limits);
  }

  /** Builds, checks, signs and submits a sale. @throws TradeError */
  async sell(order: SellOrder, limits: TradeLimits = {}): Promise<Trade> {
    return this.#trade(await this.buildSell(order, limits), limits);
  }

  /** Builds, checks, signs and submits a swap. @throws TradeError */
  async swap(order: SwapOrder, limits: TradeLimits = {}): Promise<Trade> {
    return this.#trade(await this.buildSwap(order, limits), limits);
  }

  /** Builds a buy; nothing is signed. @throws TradeError */
  buildBuy(order: BuyOrder, limits: TradeLimits = {}): Promise<BuyResponse> {
    return this.#call(() =>
      this.#trades.buy({ ...order, ...limits, priority: PRIORITIES[order.priority] }, this.#options()),
    );
  }

  /** Builds a sale; nothing is signed. @throws TradeError */
  buildSell(order: SellOrder, limits: TradeLimits = {}): Promise<SellResponse> {
    return this.#call(() =>
      this.#trades.sell({ ...order, ...limits, priority: PRIORITIES[order.priority] }, this.#options()),
    );
  }

  /** Builds a swap; nothing is signed. @throws TradeError */
  buildSwap(order: SwapOrder, limits: TradeLimits = {}): Promise<SwapResponse> {
    const { priority, swapMode, ...rest } = order;
    const request = { ...rest, ...limits, priority: PRIORITIES[priority], swapMode: SWAP_MODES[swapMode] };
    return this.#call(() => this.#trades.swap(request, this.#options()));
  }

  /** Prices a swap without building it. @throws TradeError */
  quote(order: Omit<SwapOrder, "priority">): Promise<QuoteResponse> {
    return this.#call(() => this.#trades.quote({ ...order, swapMode: SWAP_MODES[order.swapMode] }, this.#options()));
  }

  /** Signs a built transaction after checking the limits against it. @throws TradeError PRICE_IMPACT_TOO_HIGH, PRIORITY_COST_TOO_HIGH */
  sign(built: BuiltResponse, limits: TradeLimits = {}): Promise<Uint8Array> {
    checkLimits(built, limits);
    return signTransaction(this.wallet, built.unsignedTransaction);
  }

  /**
   * Submits a signed transaction and waits until the chain has decided. Asking again with the same bytes is always safe, so
   * lost connections and pending answers are asked again. @throws TradeError
   */
  async submit(submissionToken: string, signedTransaction: Uint8Array): Promise<Trade> {
    const until = Date.now() + SUBMIT_PATIENCE_MS;
    for (;;) {
      try {
        const trade = toTrade(
          await this.#call(() => this.#trades.submit({ submissionToken, signedTransaction }, this.#options())),
        );
        if (trade.status !== "pending" || Date.now() > until) return trade;
      } catch (error) {
        if (!(error instanceof TradeError) || !error.retryable || Date.now() > until) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, SUBMIT_PAUSE_MS));
    }
  }

  /** Keeps the connection to the service open. @throws TradeError */
  async ping(): Promise<void> {
    const response = await this.#call(() =>
      fetch(`${this.#baseUrl}/v1/ping`, { signal: AbortSignal.timeout(this.#timeoutMs) }),
    );
    await response.arrayBuffer();
    if (!response.ok)
      throw new TradeError("CONNECTION_ERROR", `The service answered ping with ${response.status}.`, {
        retryable: true,
      });
  }

  async #trade(built: BuiltResponse, limits: TradeLimits): Promise<Trade> {
    return this.submit(built.submissionToken, await this.sign(built, limits));
  }

  #options() {
    const headers: Record<string, string> =
      this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` };
    return { headers, timeoutMs: this.#timeoutMs };
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw toTradeError(error);
    }
  }
}

function checkLimits(built: BuiltResponse, { maxPriceImpact, maxPriorityCost }: TradeLimits): void {
  const priceImpact = built.estimates?.priceImpact ?? Number.NaN;
  if (maxPriceImpact !== undefined && !(priceImpact <= maxPriceImpact)) {
    throw new TradeError(
      "PRICE_IMPACT_TOO_HIGH",
      `The trade moves the price by ${priceImpact}, more than ${maxPriceImpact}. Nothing was signed.`,
    );
  }
  if (maxPriorityCost !== undefined && !(built.priorityCost <= maxPriorityCost)) {
    throw new TradeError(
      "PRIORITY_COST_TOO_HIGH",
      `Priority costs ${built.priorityCost} SOL, more than ${maxPriorityCost}. Nothing was signed.`,
    );
  }
}

function toTrade(response: SubmitResponse): Trade {
  const { signature, status, slot, platform, inputMint, outputMint, tradeResult, priorityCost } = response;
  return {
    signature,
    status: STATUSES.get(status) ?? "pending",
    slot: slot === undefined ? undefined : Number(slot),
    platform,
    inputMint,
    outputMint,
    tradeResult,
    priorityCost,
  };
}
