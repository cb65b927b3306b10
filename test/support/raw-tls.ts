import { createCipheriv, createHmac } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";

const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
const HASH_BYTES = 32;

/** A message of RFC 8446, section 4.6.3: the sender's keys are new from the next record on. */
const keyUpdate = (asksBack: boolean) => Buffer.of(24, 0, 0, 1, asksBack ? 1 : 0);

/** A TLS 1.3 connection whose handshake is done, and which sends whatever records it is told to. */
export class RawTls {
  readonly client: tls.TLSSocket;
  readonly #socket: net.Socket;
  #secret: Buffer;
  #sequence = 0n;

  private constructor(client: tls.TLSSocket, socket: net.Socket, secret: Buffer) {
    this.client = client;
    this.#socket = socket;
    this.#secret = secret;
  }

  static async connect(port: number, protocol: "h2" | "http/1.1"): Promise<RawTls> {
    const socket = net.connect(port, "127.0.0.1");
    await once(socket, "connect");
    const between = new Duplex({
      read() {},
      write: (chunk: Buffer, _, done) => void socket.write(chunk, () => done()),
    });
    socket
      .on("data", (chunk: Buffer) => between.push(chunk))
      .on("close", () => between.destroy())
      .on("error", () => {});
    const client = tls.connect({
      socket: between,
      rejectUnauthorized: false,
      minVersion: "TLSv1.3",
      ciphers: "TLS_AES_128_GCM_SHA256",
      ALPNProtocols: [protocol],
    });
    client.on("error", () => {});
    let secret = "";
    client.on("keylog", (line: Buffer) => {
      const [label, , value] = line.toString().trim().split(" ");
      if (label === "CLIENT_TRAFFIC_SECRET_0") secret = value!;
    });
    await once(client, "secureConnect");
    return new RawTls(client, socket, Buffer.from(secret, "hex"));
  }

  /** A record for each byte. */
  bytewise(text: string): Buffer {
    return Buffer.concat(Array.from(Buffer.from(text), (byte) => this.#record(Buffer.of(byte), APPLICATION_DATA)));
  }

  /** Renewals of the client's keys. @param asksBack whether each asks the server to renew its keys too */
  keyUpdates(count: number, asksBack = false): Buffer {
    return Buffer.concat(
      Array.from({ length: count }, () => {
        const record = this.#record(keyUpdate(asksBack), HANDSHAKE);
        this.#secret = expand(this.#secret, "traffic upd", HASH_BYTES);
        this.#sequence = 0n;
        return record;
      }),
    );
  }

  /** Sends records, all of them in the order in which they were made. */
  send(records: Buffer): void {
    this.#socket.write(records);
  }

  /** True once the server has closed the connection. */
  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  destroy(): void {
    this.#socket.destroy();
    this.client.destroy();
  }

  #record(content: Buffer, type: number): Buffer {
    const head = Buffer.of(APPLICATION_DATA, 3, 3, 0, content.length + 17);
    const nonce = expand(this.#secret, "iv", 12);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence++, 4);
    const cipher = createCipheriv("aes-128-gcm", expand(this.#secret, "key", 16), nonce).setAAD(head);
    return Buffer.concat([
      head,
      cipher.update(content),
      cipher.update(Buffer.of(type)),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }
}

/** HKDF-Expand-Label of RFC 8446 with SHA-256 and no context. At most 32 bytes. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.of(0, length, name.length), name, Buffer.of(0, 1)]);
  return createHmac("sha256", secret).update(info).digest().subarray(0, length);
}
