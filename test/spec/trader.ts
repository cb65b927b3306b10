import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import bs58 from "bs58";
import type { Answer, Json, StartedService } from "./started-service.ts";

/** What RFC 8410 puts before a 32-byte Ed25519 seed. */
const DER_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** One compact-u16 count byte and the room of one signature stand before the message. */
export const MESSAGE_OFFSET = 65;

/** A caller with a key of its own, who knows nothing but the reference. */
export class Trader {
  readonly #service: StartedService;
  readonly #key: KeyObject;
  readonly address: string;
  readonly apiKey: string | undefined;

  private constructor(service: StartedService, seed: Uint8Array, address: string, apiKey?: string) {
    this.#service = service;
    this.#key = createPrivateKey({ key: Buffer.concat([DER_PREFIX, seed]), format: "der", type: "pkcs8" });
    this.address = address;
    this.apiKey = apiKey;
  }

  /** The demo wallet that the start page prints. */
  static demo(service: StartedService): Trader {
    const secret = bs58.decode(service.secretKey);
    return new Trader(service, secret.subarray(0, 32), bs58.encode(secret.subarray(32)), service.apiKey);
  }

  /** A new wallet without funds or key. */
  static create(service: StartedService): Trader {
    const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const address = bs58.encode(Buffer.from(jwk.x!, "base64url"));
    return new Trader(service, Buffer.from(jwk.d!, "base64url"), address);
  }

  /** Asks for a challenge, signs it and registers. */
  async register(): Promise<Answer> {
    const walletAddress = this.address;
    const challenge = await this.#service.post("/v1/auth/challenge", { walletAddress }, { apiKey: null });
    const { message } = challenge.body.data;
    const signature = bs58.encode(this.signBytes(Buffer.from(message)));
    return this.#service.post("/v1/auth/register", { walletAddress, message, signature }, { apiKey: null });
  }

  signBytes(bytes: Uint8Array): Uint8Array {
    return sign(null, bytes, this.#key);
  }

  /** Decodes the transaction, signs its message and encodes it again; `change` may tamper with it before or after. */
  signed(built: { unsignedTransaction: string }, change: { before?: Change; after?: Change } = {}): string {
    const wire = Buffer.from(built.unsignedTransaction, "base64");
    change.before?.(wire);
    wire.set(this.signBytes(wire.subarray(MESSAGE_OFFSET)), 1);
    change.after?.(wire);
    return wire.toString("base64");
  }

  /** Signs and submits. */
  submit(built: { unsignedTransaction: string; submissionToken: string }): Promise<Answer> {
    return this.#service.post("/v1/tx/submit", {
      submissionToken: built.submissionToken,
      signedTransaction: this.signed(built),
    });
  }
}

type Change = (wire: Buffer) => void;

/** One call to the chain itself, past the service. */
export async function askChain(service: StartedService, method: string, params: readonly unknown[]): Promise<Json> {
  const response = await fetch(service.chainUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: unknown }).result;
}
