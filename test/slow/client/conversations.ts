import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import bs58 from "bs58";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import { type BuyOrder, PRIORITIES, type SwapOrder } from "../../../src/client/order/order.ts";
import { messageOf, VERSION_1 } from "../../../src/client/signature/wire-layout.ts";
import type { Trade } from "../../../src/client/trade.ts";
import { TradeError } from "../../../src/client/trade-error.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { Address } from "../../../src/primitives/address.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";

/** What the caller of a conversation allows. */
export interface Caller {
  readonly rebuilds: number;
  readonly patienceMs: number;
  readonly timeoutMs: number;
}

/** One conversation with a hostile service, and how it ended for the caller. */
export interface Conversation {
  readonly caller: Caller;
  /** Signatures that the wallet gave, oldest first, in base58. */
  readonly signatures: readonly string[];
  readonly submits: number;
  readonly trade: Trade | undefined;
  readonly failure: unknown;
  /** Milliseconds of the clock that the client waits by. */
  readonly tookMs: number;
  /** What the service answered, for reports. */
  readonly log: readonly string[];
}

const CODES = [
  "UNEXPECTED_TRANSACTION",
  "UNREADABLE_TRANSACTION",
  "UNEXPECTED_CHALLENGE",
  "LIMIT_EXCEEDED",
  "DECIMALS_REQUIRED",
  "PRICE_MOVED",
  "ABORTED",
  "CONNECTION_ERROR",
  "VALIDATION_ERROR",
  "AUTH_ERROR",
  "TX_EXPIRED",
  "SLIPPAGE_EXCEEDED",
  "PROGRAM_ERROR",
  "PRICE_IMPACT_TOO_HIGH",
  "INSUFFICIENT_SOL",
  "RATE_LIMIT_EXCEEDED",
  "OVERLOADED",
  "UPSTREAM_ERROR",
  "INTERNAL_ERROR",
  "NOT_A_CODE\u001b]52;c;AAAA\u0007",
] as const;
const CONNECT_CODES = [
  Code.Canceled,
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unavailable,
  Code.FailedPrecondition,
  Code.Aborted,
  Code.Internal,
];
const STATUSES = [
  TradeStatus.PENDING,
  TradeStatus.PENDING,
  TradeStatus.PROCESSED,
  TradeStatus.CONFIRMED,
  TradeStatus.FINALIZED,
  99,
];

/** The transaction with another blockhash. */
function withBlockhash(wire: Uint8Array, blockhash: Uint8Array): Uint8Array {
  const message = messageOf(wire);
  const bytes = wire.slice();
  const first = message.byteOffset - wire.byteOffset;
  bytes.set(blockhash, first + (message[0] === VERSION_1 ? 8 : 5 + 32 * message[4]!));
  return bytes;
}

/** A service that draws every answer from a seed: honest ones, lies, errors in its own or this library's words, silence. */
class HostileService {
  readonly log: string[] = [];
  readonly signatures: string[] = [];
  submits = 0;
  readonly #random: Random;
  readonly #build: HonestBuild;
  #wire: Uint8Array;

  constructor(random: Random, build: HonestBuild) {
    this.#random = random;
    this.#build = build;
    this.#wire = withBlockhash(build.wire, random.bytes(32));
  }

  readonly transport = {
    unary: async (method: DescMethodUnary, signal: AbortSignal | undefined) => ({
      stream: false,
      method,
      service: method.parent,
      header: new Headers(),
      trailer: new Headers(),
      message: create(method.output, (await this.#answer(method.name, signal)) as never),
    }),
    stream: () => Promise.reject(new ConnectError("no streams", Code.Unimplemented)),
  } as unknown as Transport;

  #answer(method: string, signal: AbortSignal | undefined): object | Promise<object> {
    const random = this.#random;
    const isSubmit = method === "Submit";
    if (isSubmit) this.submits += 1;
    if (random.chance(isSubmit ? 0.06 : 0.02)) {
      this.log.push(`${method}: silence`);
      const heeds = random.chance(0.5);
      return new Promise((_, reject) => {
        if (heeds) signal?.addEventListener("abort", () => reject(new ConnectError("canceled", Code.Canceled)));
      });
    }
    if (random.chance(isSubmit ? 0.5 : 0.05)) throw this.#error(method);
    return isSubmit ? this.#trade() : this.#built();
  }

  #error(method: string): ConnectError {
    const random = this.#random;
    const code = random.pick(CONNECT_CODES);
    if (random.chance(0.2)) {
      this.log.push(`${method}: bare ${Code[code]}`);
      return new ConnectError("Refused to sign. Nothing was signed.", code);
    }
    const last = this.signatures.at(-1);
    const value = {
      code: random.chance(0.3) ? "TX_EXPIRED" : random.pick(CODES),
      message: random.pick([
        "Nothing was signed.",
        "Refused to sign: it is not the trade.",
        "try again \u001b[2J\u202e",
      ]),
      retryable: random.chance(0.5),
      ...(random.chance(0.5) ? { safeToRebuild: random.chance(0.7) } : {}),
      ...(random.chance(0.5) ? { retryAfterMs: random.pick([0, 1, 1_000, 2 ** 31 - 1]) } : {}),
      ...(random.chance(0.5)
        ? { details: { signature: random.pick([bs58.encode(random.bytes(64)), last ?? "none", "not a signature"]) } }
        : {}),
    };
    this.log.push(`${method}: ${JSON.stringify(value)}`);
    return new ConnectError("error", code, undefined, [{ desc: ErrorDetailSchema, value }]);
  }

  #built(): object {
    const { answer } = this.#build;
    const random = this.#random;
    // A build has a blockhash of its own, so that its message was never signed before; a lie is one that was.
    if (random.chance(0.95)) this.#wire = withBlockhash(this.#build.wire, random.bytes(32));
    else this.log.push("the build of before");
    const wire = this.#wire;
    const honest = { ...answer, unsignedTransaction: wire.slice(), submissionToken: "token" };
    if (random.chance(0.85)) return honest;
    this.log.push("a build that lies");
    const bytes = wire.slice();
    bytes[66 + Number(random.below(BigInt(bytes.length - 66)))]! ^= 1 + Number(random.below(255n));
    return random.pick<object>([
      { ...honest, unsignedTransaction: bytes },
      { ...honest, unsignedTransaction: new Uint8Array() },
      { ...honest, priorityCost: answer.priorityCost + 1 },
      { ...honest, platform: "else\u001b]52;c;AAAA\u0007where" },
      { ...honest, platform: "\u202e", route: answer.route.map((leg) => ({ ...leg, venue: "\u202e" })) },
      { ...honest, estimates: { ...answer.estimates, outputAmountRaw: "0" } },
      { ...honest, estimates: { ...answer.estimates, outputAmount: answer.estimates!.outputAmount * 1000 } },
      { ...honest, estimates: undefined },
      { ...honest, route: [...answer.route, ...answer.route] },
      { ...honest, inputMint: "garbage" },
      { ...honest, outputMint: "" },
      { ...honest, costs: { ...answer.costs, rentPaid: "many" } },
      { ...honest, costs: { ...answer.costs, tip: "-1" } },
      ...["market", "inputMint", "outputMint", "inputAmountRaw"].map((name) => ({
        ...honest,
        route: answer.route.map((leg) => ({ ...leg, [name]: "\u001b]52;c;AAAA" })),
      })),
    ]);
  }

  #trade(): object {
    const random = this.#random;
    const { answer } = this.#build;
    const own = this.signatures.at(-1)!;
    const { inputAmountRaw, outputAmountRaw } = answer.estimates!;
    const honest = {
      ...answer,
      signature: own,
      status: random.pick(STATUSES),
      tradeResult: { inputAmount: 1, outputAmount: 1, inputAmountRaw, outputAmountRaw },
    };
    if (random.chance(0.7)) {
      this.log.push(`Submit: ${honest.status}`);
      return honest;
    }
    this.log.push("Submit: a lie");
    return random.pick<object>([
      { ...honest, signature: bs58.encode(random.bytes(64)) },
      { ...honest, signature: "" },
      { ...honest, signature: this.signatures[0]! },
      { ...honest, inputMint: answer.outputMint },
      { ...honest, inputMint: "garbage" },
      { ...honest, platform: "elsewhere" },
      { ...honest, priorityCost: Number.NaN },
      { ...honest, tradeResult: { ...honest.tradeResult, outputAmountRaw: "0" } },
      { ...honest, tradeResult: { ...honest.tradeResult, inputAmountRaw: "18446744073709551615" } },
      { ...honest, tradeResult: { ...honest.tradeResult, inputAmountRaw: "-1" } },
    ]);
  }
}

/** Runs one trade against a hostile service drawn from `random`. `elapse` moves the clock until `done` has settled. */
export async function converse(
  random: Random,
  build: HonestBuild,
  elapse: (done: Promise<unknown>) => Promise<void>,
): Promise<Conversation> {
  const service = new HostileService(random, build);
  const caller = {
    rebuilds: random.chance(0.4) ? Number(random.between(1n, 3n)) : 0,
    patienceMs: Number(random.between(1_000n, 60_000n)),
    timeoutMs: Number(random.between(500n, 20_000n)),
  };
  const client = Tradewire.connect({
    baseUrl: "https://hostile.example",
    apiKey: "api_key",
    transport: service.transport,
    keepAliveMs: 0,
    wallet: {
      publicKey: Address.of(build.wallet.toString()),
      signMessageBytes: () => {
        const signature = random.bytes(64);
        service.signatures.push(bs58.encode(signature));
        return signature;
      },
    },
  });
  const { rebuilds, patienceMs, timeoutMs } = caller;
  const order: SwapOrder = {
    inputMint: build.order.inputMint,
    outputMint: build.order.outputMint,
    swapMode: build.order.swapMode,
    amount: build.order.amount!,
    slippage: build.order.slippage,
    priority: random.pick(Object.keys(PRIORITIES) as BuyOrder["priority"][]),
  };
  const startMs = performance.now();
  let trade: Trade | undefined;
  let failure: unknown;
  const done = client
    .swap(order, {
      patienceMs,
      timeoutMs,
      decimals: build.decimals,
      // What may cost more than was typed needs a bound of the caller's own.
      ...(build.order.swapMode === "exactOut" ? { maxInputRaw: `${2n ** 64n - 1n}` } : {}),
      ...(rebuilds === 0 ? {} : { rebuild: { times: rebuilds, maxPriceMove: 0.5 } }),
    })
    .then(
      (landed) => {
        trade = landed;
      },
      (error: unknown) => {
        failure = error;
      },
    );
  await elapse(done);
  const { signatures, submits, log } = service;
  client.close();
  return { caller, signatures, submits, trade, failure, tookMs: performance.now() - startMs, log };
}

/** What the service talked the client into; undefined if nothing. */
export function fooled({ caller, signatures, submits, trade, failure, tookMs }: Conversation): string | undefined {
  const { rebuilds, patienceMs, timeoutMs } = caller;
  if (signatures.length > 1 + rebuilds) return `${signatures.length} live transactions, ${rebuilds} rebuilds allowed`;
  const calls = signatures.length * (patienceMs + timeoutMs) + (2 + rebuilds) * timeoutMs;
  if (tookMs > calls + 2_000) return `${tookMs} ms of waiting`;
  if (submits > signatures.length * (8 + patienceMs / 1_000)) return `${submits} submits in ${tookMs} ms`;
  const last = signatures.at(-1);
  if (trade !== undefined) return trade.signature === last ? undefined : "another transaction's trade";
  if (!(failure instanceof TradeError)) return `a failure of the library: ${String(failure)}`;
  if (failure.signature !== last) return `the signature ${failure.signature}, not ${last}`;
  if (last !== undefined && rebuilds === 0 && failure.code === "UNEXPECTED_TRANSACTION")
    return "a transaction refused after it was signed";
  if (last !== undefined && /^(Refused|Nothing)/.test(failure.message)) return `"${failure.message}" after signing`;
  if (/[\p{Cc}\p{Cf}]/u.test(failure.message + failure.code)) return "characters for a terminal";
  return undefined;
}
