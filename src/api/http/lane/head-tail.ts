import type { Now } from "../../../primitives/clock.ts";
import type { ApiSettings } from "../../settings.ts";
import { Piece } from "./piece.ts";

/** What every head of an HTTP/1.1 connection ends with: the date and the connection's headers. */
export class HeadTail {
  readonly #wallMs: Now;
  readonly #keepAlive: string;
  #dateMs = Number.NaN;
  /** Of the second that began then. */
  #date = "";
  #text = "";
  #piece = new Piece("");

  constructor(
    {
      keepAliveHintMs,
      keepAliveMs,
      maxRequestsPerConnection: most,
    }: Pick<ApiSettings, "keepAliveHintMs" | "keepAliveMs" | "maxRequestsPerConnection">,
    wallMs: Now,
  ) {
    this.#wallMs = wallMs;
    const timeout = Math.floor(Math.min(keepAliveHintMs, keepAliveMs) / 1_000);
    this.#keepAlive = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${timeout}, max=${most}\r\n\r\n`;
  }

  /** A line break before each header, and the end of the head. The connection is kept. */
  get text(): string {
    this.#readDate();
    return this.#text;
  }

  /** The same for an answer that is written as bytes. */
  get piece(): Piece {
    this.#readDate();
    return this.#piece;
  }

  /** The same of the last answer of a connection. */
  get lastText(): string {
    this.#readDate();
    return `${this.#date}\r\nConnection: close\r\n\r\n`;
  }

  #readDate(): void {
    const nowMs = this.#wallMs();
    if (nowMs >= this.#dateMs && nowMs < this.#dateMs + 1_000) return;
    this.#dateMs = nowMs - (nowMs % 1_000);
    this.#date = `\r\nDate: ${new Date(nowMs).toUTCString()}`;
    this.#text = this.#date + this.#keepAlive;
    this.#piece = new Piece(this.#text);
  }
}
