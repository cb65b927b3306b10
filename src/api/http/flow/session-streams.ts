import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";

/** What Node's HTTP/2 keeps of a session; internal to Node, so it may be missing. */
interface SessionState {
  streams?: { readonly size?: unknown };
  /** Streams without an id, which those of clients have from the start. */
  pendingStreams?: { readonly size?: unknown };
}

/**
 * The open streams of a session by their ids, for Node to keep in place of its `Map`. A map with constant insertions and removals keeps
 * each stream in memory until the next full collection: its outgrown tables stay linked, and the first lies in old memory. Lists retain
 * nothing that was removed, and a session has at most some hundred streams to search.
 */
class SessionStreams extends Map<number, ServerHttp2Stream> {
  readonly #ids: number[] = [];
  readonly #streams: ServerHttp2Stream[] = [];

  override get size(): number {
    return this.#ids.length;
  }

  override get(id: number): ServerHttp2Stream | undefined {
    const at = this.#ids.lastIndexOf(id);
    return at === -1 ? undefined : this.#streams[at];
  }

  override has(id: number): boolean {
    return this.#ids.includes(id);
  }

  override set(id: number, stream: ServerHttp2Stream): this {
    const at = this.#ids.lastIndexOf(id);
    if (at !== -1) this.#streams[at] = stream;
    else {
      this.#ids.push(id);
      this.#streams.push(stream);
    }
    return this;
  }

  override delete(id: number): boolean {
    const at = this.#ids.lastIndexOf(id);
    if (at === -1) return false;
    const lastId = this.#ids.pop()!;
    const last = this.#streams.pop()!;
    if (at < this.#ids.length) {
      this.#ids[at] = lastId;
      this.#streams[at] = last;
    }
    return true;
  }

  override clear(): void {
    this.#ids.length = 0;
    this.#streams.length = 0;
  }

  /** Node closes or destroys each, which deletes it meanwhile. */
  override forEach(visit: (stream: ServerHttp2Stream, id: number, all: Map<number, ServerHttp2Stream>) => void): void {
    for (const [id, stream] of this) visit(stream, id, this);
  }

  override keys(): MapIterator<number> {
    return this.#ids.slice().values();
  }

  override values(): MapIterator<ServerHttp2Stream> {
    return this.#streams.slice().values();
  }

  override entries(): MapIterator<[number, ServerHttp2Stream]> {
    return this.#ids.map((id, at): [number, ServerHttp2Stream] => [id, this.#streams[at]!]).values();
  }

  override [Symbol.iterator](): MapIterator<[number, ServerHttp2Stream]> {
    return this.entries();
  }
}

/** Replaces Node's `Set` of a session's streams that have no id yet, which would keep each as its map does. A server has none. */
class NoStreams extends Set<ServerHttp2Stream> {
  override add(): this {
    return this;
  }
}

/** Lets a session that has no streams yet keep nothing of those that have closed. Does nothing if Node keeps them in another way. */
export function forgetClosedStreams(session: ServerHttp2Session): void {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === "state");
  if (symbol === undefined) return;
  const state = (session as unknown as Record<symbol, SessionState | undefined>)[symbol];
  if (state?.streams?.size === 0) state.streams = new SessionStreams();
  if (state?.pendingStreams?.size === 0) state.pendingStreams = new NoStreams();
}
