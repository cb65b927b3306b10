/**
 * Streams that connections opened within about a second may have together at first. A connection after a pause may have all of its own. If
 * a client opens as many as it may, each costs some 30 µs when it is read and 60 µs when all are closed at once, and nobody else is served
 * meanwhile.
 */
const OPENED_TOGETHER = 128;
const WITHIN_MS = 1_000;

/** How fast new HTTP/2 connections come. In a flood of them each begins with few streams, and gets more once it is served. */
export class OpeningRate {
  /** Connections within about a second, decaying. */
  #recent = 0;
  #atMs = 0;

  /** Counts a new connection. Returns how many streams it may have open at once at first. At least 1. */
  share(nowMs: number): number {
    const others = this.#recent * Math.exp((this.#atMs - nowMs) / WITHIN_MS);
    this.#recent = others + 1;
    this.#atMs = nowMs;
    return Math.max(1, Math.floor(OPENED_TOGETHER / others));
  }
}
