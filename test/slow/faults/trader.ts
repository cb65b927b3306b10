import { createHash } from "node:crypto";
import bs58 from "bs58";
import { createRandom } from "../../../src/primitives/random.ts";
import { createTestWallet, signWithNonce, type TestWallet } from "../../support/wallet.ts";

/** What a caller was answered, and when. */
export interface SubmitEntry {
  readonly messageHash: string;
  readonly service: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** HTTP status; 0 when the connection broke. */
  readonly status: number;
  readonly data: SubmitData | undefined;
  readonly error: ErrorData | undefined;
  /** The answer's data as it came, to be compared with others byte by byte. */
  readonly text: string;
}

export interface SubmitData {
  readonly signature: string;
  readonly status: "pending" | "processed" | "confirmed" | "finalized";
  readonly slot: number | null;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly tradeResult: { readonly inputAmountRaw: string; readonly outputAmountRaw: string } | null;
  readonly costs: {
    readonly baseFee: string;
    readonly priorityFee: string;
    readonly tip: string;
    readonly rentPaid: string;
    readonly rentReturned: string;
  };
}

export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly safeToRebuild?: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** One build with what the caller signed. */
export interface BuildEntry {
  readonly messageHash: string;
  readonly wallet: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly submissionToken: string;
  /** Base64 of the signed transaction. */
  readonly signed: string;
  readonly signature: string;
  readonly expiresAtMs: number;
  readonly lastValidBlockHeight: number;
  readonly blockhash: string;
  readonly estimates: { readonly inputAmountRaw: string; readonly outputAmountRaw: string };
  readonly priorityCostLamports: bigint;
  readonly costs: SubmitData["costs"];
}

/** A build that was refused. */
export interface RefusedBuild {
  readonly atMs: number;
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** All requests of a run's callers, with their answers. */
export interface History {
  readonly builds: BuildEntry[];
  readonly refusedBuilds: RefusedBuild[];
  readonly submits: SubmitEntry[];
  /** Answers to look-ups of trades by signature. */
  readonly lookUps: SubmitEntry[];
  /** API keys, which must be found nowhere. */
  readonly secrets: string[];
}

export interface TradeOrder {
  readonly path: "buy" | "sell" | "swap";
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer as it came over the wire. */
interface Answered {
  readonly status: number;
  readonly data: unknown;
  readonly error: ErrorData | undefined;
  readonly text: string;
}

/** A wallet with an API key that trades over REST and writes down everything. */
export class Trader {
  readonly wallet: TestWallet;
  readonly #seed: Uint8Array;
  readonly history: History;
  #apiKey = "";

  constructor(seed: number, history: History) {
    this.#seed = createRandom(seed).bytes(32);
    this.wallet = createTestWallet(this.#seed);
    this.history = history;
  }

  get address(): string {
    return this.wallet.address.toString();
  }

  async register(url: string): Promise<void> {
    const challenge = await this.#post(url, "/v1/auth/challenge", { walletAddress: this.address });
    const { message } = challenge.data as { message: string };
    const signature = bs58.encode(this.wallet.sign(message));
    const answer = await this.#post(url, "/v1/auth/register", { walletAddress: this.address, message, signature });
    if (answer.data === undefined) throw new Error(`register: ${answer.status} ${answer.error?.code}`);
    this.#apiKey = (answer.data as { apiKey: string }).apiKey;
    this.history.secrets.push(this.#apiKey);
  }

  /** HTTP status of an attempt to register a fresh wallet. */
  async tryRegister(url: string): Promise<number> {
    const { status } = await this.#post(url, "/v1/auth/challenge", { walletAddress: this.address });
    return status;
  }

  /** Builds and signs; undefined when the build was refused. */
  async build(url: string, { path, body }: TradeOrder): Promise<BuildEntry | undefined> {
    const startedAtMs = Date.now();
    const { status, data, error } = await this.#post(url, `/v1/tx/${path}`, {
      slippage: 0.5,
      priority: "fast",
      ...body,
    });
    if (data === undefined) {
      this.history.refusedBuilds.push({
        atMs: startedAtMs,
        status,
        code: error?.code ?? "connection",
        message: error?.message ?? "",
      });
      return undefined;
    }
    const built = data as {
      unsignedTransaction: string;
      submissionToken: string;
      expiresAt: string;
      lastValidBlockHeight: number | string;
      estimates: BuildEntry["estimates"];
      costs: SubmitData["costs"];
      priorityCost: number;
    };
    const wire = Buffer.from(built.unsignedTransaction, "base64");
    const message = wire.subarray(65);
    const signature = this.wallet.sign(message);
    wire.set(signature, 1);
    const entry: BuildEntry = {
      messageHash: createHash("sha256").update(message).digest("hex"),
      wallet: this.address,
      startedAtMs,
      endedAtMs: Date.now(),
      submissionToken: built.submissionToken,
      signed: wire.toString("base64"),
      signature: bs58.encode(signature),
      expiresAtMs: Date.parse(built.expiresAt),
      lastValidBlockHeight: Number(built.lastValidBlockHeight),
      blockhash: blockhashOf(message),
      estimates: built.estimates,
      priorityCostLamports: BigInt(Math.round(built.priorityCost * 1e9)),
      costs: built.costs,
    };
    this.history.builds.push(entry);
    return entry;
  }

  /** The same message under another signature of the wallet. */
  signAgain(built: BuildEntry, nonce: bigint): BuildEntry {
    const wire = Buffer.from(built.signed, "base64");
    const signature = signWithNonce(this.#seed, wire.subarray(65), nonce);
    wire.set(signature, 1);
    const again = { ...built, signed: wire.toString("base64"), signature: bs58.encode(signature) };
    this.history.builds.push(again);
    return again;
  }

  /** Submits; whatever comes back is in the history too. */
  async submit(service: { readonly name: string; readonly url: string }, built: BuildEntry): Promise<SubmitEntry> {
    const startedAtMs = Date.now();
    const { status, data, error, text } = await this.#post(service.url, "/v1/tx/submit", {
      submissionToken: built.submissionToken,
      signedTransaction: built.signed,
    });
    const entry: SubmitEntry = {
      messageHash: built.messageHash,
      service: service.name,
      startedAtMs,
      endedAtMs: Date.now(),
      status,
      data: data as SubmitData | undefined,
      error,
      text,
    };
    this.history.submits.push(entry);
    return entry;
  }

  /** The answer to a GET of that path; not in the history. */
  async get(url: string, path: string): Promise<{ status: number; data: unknown }> {
    const { status, data } = await this.#ask(`${url}${path}`, "GET");
    return { status, data };
  }

  /** Looks the trade up by its signature; whatever comes back is in the history too. */
  async find(
    { name, url }: { readonly name: string; readonly url: string },
    { messageHash, signature }: BuildEntry,
  ): Promise<SubmitEntry> {
    const startedAtMs = Date.now();
    const { status, data, error, text } = await this.#ask(`${url}/v1/tx/${signature}`, "GET");
    const answer = { status, data: data as SubmitData | undefined, error, text };
    const entry = { messageHash, service: name, startedAtMs, endedAtMs: Date.now(), ...answer };
    this.history.lookUps.push(entry);
    return entry;
  }

  #post(url: string, path: string, body: object): Promise<Answered> {
    return this.#ask(`${url}${path}`, "POST", JSON.stringify(body));
  }

  async #ask(url: string, method: string, body?: string): Promise<Answered> {
    try {
      const response = await fetch(url, {
        method,
        headers: { "content-type": "application/json", authorization: `Bearer ${this.#apiKey}` },
        ...(body === undefined ? {} : { body }),
      });
      const answer = (await response.json()) as { data?: unknown; error?: ErrorData };
      return { status: response.status, data: answer.data, error: answer.error, text: JSON.stringify(answer.data) };
    } catch {
      return { status: 0, data: undefined, error: undefined, text: "" };
    }
  }
}

/** The recent blockhash of a legacy or version 0 message, base58. */
function blockhashOf(message: Uint8Array): string {
  const start = (message[0]! & 0x80) === 0 ? 3 : 4;
  const end = start + 1 + message[start]! * 32;
  return bs58.encode(message.subarray(end, end + 32));
}
