/** The whole answer to one HTTP/1.1 request. */
export interface HttpAnswer {
  readonly status: number;
  /** Undefined if it is larger than allowed; it was then not read to its end. */
  readonly body: Uint8Array | undefined;
  /** The content coding; undefined if the body is plain. Lower case. */
  readonly encoding: string | undefined;
  /** True if another request may follow on the connection. */
  readonly isReusable: boolean;
  /** How long the server keeps an idle connection, if it says so. Milliseconds. */
  readonly keepAliveMs: number | undefined;
}

/** An answer that is not HTTP/1.1, or whose end is ambiguous. */
export class BadHttpAnswer extends Error {
  override readonly name = "BadHttpAnswer";
  readonly code = "BAD_HTTP";
}

type Head = Omit<HttpAnswer, "body"> & {
  /** How the body's length is given: known, in chunks, or until the connection ends. */
  readonly length: number | "chunked" | "untilEnd";
};

/** Largest head of an answer, and of a chunk. Bytes. */
const MAX_HEAD = 16_384;
const MAX_CHUNK_HEAD = 1_024;
/** Most interim answers (1xx) before the final one. */
const MAX_INTERIM = 8;
const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const NO_BYTES = Buffer.alloc(0);

/** Reads the answer to one request from the bytes of a connection, as they come. Takes no more than `maxBytes` of body. */
export class AnswerReader {
  readonly #maxBytes: number;
  #head: Head | undefined;
  #interim = 0;
  /** Bytes not used yet: an incomplete head, or an incomplete body of known length or chunks. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to wait for before the held ones are examined again. */
  #needed = 0;
  /** The chunked body so far: copied, because a node may send millions of small chunks. */
  #chunked: Buffer = NO_BYTES;
  #chunkedBytes = 0;
  #isInTrailer = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes in what came.
   *
   * @returns the answer once it is complete or known to be too large
   * @throws BadHttpAnswer
   */
  take(bytes: Buffer): HttpAnswer | undefined {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < this.#needed) return undefined;
    return this.#read();
  }

  /** The connection has ended: returns the answer if that completes it. */
  end(): HttpAnswer | undefined {
    if (this.#head?.length !== "untilEnd") return undefined;
    return this.#answer(this.#head, this.#join(), false);
  }

  #read(): HttpAnswer | undefined {
    while (this.#head === undefined) {
      const head = this.#takeHead();
      if (head === undefined) return undefined;
      if (head.status >= 200) this.#head = head;
      else if (head.status === 101 || ++this.#interim > MAX_INTERIM)
        throw new BadHttpAnswer("unexpected interim answers");
    }
    const { length } = this.#head;
    if (length === "chunked") return this.#readChunks(this.#head);
    if (length === "untilEnd") return this.#heldBytes > this.#maxBytes ? this.#tooLarge(this.#head) : undefined;
    if (length > this.#maxBytes) return this.#tooLarge(this.#head);
    if (this.#heldBytes < length) {
      this.#needed = length;
      return undefined;
    }
    const held = this.#join();
    // Bytes behind the body belong to no request.
    return this.#answer(this.#head, held.subarray(0, length), held.length === length);
  }

  #takeHead(): Head | undefined {
    const held = this.#join();
    const end = held.indexOf(HEAD_END);
    if (end < 0 ? held.length > MAX_HEAD : end > MAX_HEAD) throw new BadHttpAnswer("a head that is too large");
    if (end < 0) return undefined;
    const head = parseHead(held.toString("latin1", 0, end));
    this.#hold(held.subarray(end + HEAD_END.length));
    return head;
  }

  #readChunks(head: Head): HttpAnswer | undefined {
    const held = this.#join();
    for (let at = 0; ; ) {
      const lineEnd = held.indexOf(LINE_END, at);
      if (lineEnd < 0) {
        if (held.length - at > MAX_CHUNK_HEAD) throw new BadHttpAnswer("a chunk without a length");
        return this.#waitFor(held, at, 0);
      }
      const from = lineEnd + LINE_END.length;
      if (this.#isInTrailer) {
        if (lineEnd === at)
          return this.#answer(head, this.#chunked.subarray(0, this.#chunkedBytes), held.length === from);
        at = from;
        continue;
      }
      const size = sizeOfChunk(held.toString("latin1", at, Math.min(lineEnd, at + MAX_CHUNK_HEAD)));
      if (size === 0) {
        this.#isInTrailer = true;
        at = from;
        continue;
      }
      if (this.#chunkedBytes + size > this.#maxBytes) return this.#tooLarge(head);
      const end = from + size + LINE_END.length;
      if (held.length < end) return this.#waitFor(held, at, end - at);
      if (held[end - 2] !== LINE_END[0] || held[end - 1] !== LINE_END[1]) throw new BadHttpAnswer("a chunk too long");
      this.#addChunk(held, from, size);
      at = end;
    }
  }

  #addChunk(held: Buffer, from: number, size: number): void {
    const end = this.#chunkedBytes + size;
    if (end > this.#chunked.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(end, 2 * this.#chunked.length, 4_096)));
      this.#chunked.copy(grown, 0, 0, this.#chunkedBytes);
      this.#chunked = grown;
    }
    held.copy(this.#chunked, this.#chunkedBytes, from, from + size);
    this.#chunkedBytes = end;
  }

  #waitFor(held: Buffer, from: number, needed: number): undefined {
    this.#hold(held.subarray(from));
    this.#needed = needed;
  }

  #hold(bytes: Buffer): void {
    this.#held = [bytes];
    this.#heldBytes = bytes.length;
    this.#needed = 0;
  }

  #join(): Buffer {
    if (this.#held.length !== 1) this.#held = [Buffer.concat(this.#held, this.#heldBytes)];
    return this.#held[0]!;
  }

  #tooLarge(head: Head): HttpAnswer {
    return { ...head, isReusable: false, body: undefined };
  }

  #answer({ status, encoding, isReusable, keepAliveMs }: Head, body: Uint8Array, isClean: boolean): HttpAnswer {
    return {
      status,
      encoding,
      keepAliveMs,
      isReusable: isReusable && isClean,
      body: body.length === 0 ? NO_BYTES : body,
    };
  }
}

/** Whether a header field with a name of this length may be of interest; others are skipped unread. */
const mayMatter = (nameLength: number): boolean =>
  nameLength === 10 || nameLength === 14 || nameLength === 16 || nameLength === 17;

/** Reads the lines of a head, but only the fields about the body's length, its coding and the connection's future. */
function parseHead(text: string): Head {
  let lineEnd = endOfLine(text, 0);
  const start = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(text.slice(0, lineEnd));
  if (start === null) throw new BadHttpAnswer("not HTTP/1.1");
  const status = Number(start[2]);
  let isReusable = start[1] === "1";
  let length: number | undefined;
  let isChunked = false;
  let encoding: string | undefined;
  let keepAliveMs: number | undefined;
  while (lineEnd < text.length) {
    const from = lineEnd + LINE_END.length;
    lineEnd = endOfLine(text, from);
    const colon = text.indexOf(":", from);
    if (colon <= from || colon >= lineEnd) throw new BadHttpAnswer("a field without a name");
    if (!mayMatter(colon - from)) continue;
    const value = text.slice(colon + 1, lineEnd);
    switch (text.slice(from, colon).toLowerCase()) {
      case "content-length": {
        const given = lengthOf(value.trim());
        if (length !== undefined && given !== length) throw new BadHttpAnswer("two lengths");
        length = given;
        break;
      }
      case "transfer-encoding":
        if (isChunked || value.trim().toLowerCase() !== "chunked")
          throw new BadHttpAnswer("an unknown transfer coding");
        isChunked = true;
        break;
      case "content-encoding":
        encoding = value.trim().toLowerCase();
        break;
      case "connection":
        if (/(?:^|[\s,])close(?:[\s,]|$)/i.test(value)) isReusable = false;
        break;
      case "keep-alive": {
        const seconds = /timeout=(\d{1,6})/i.exec(value)?.[1];
        if (seconds !== undefined) keepAliveMs = Number(seconds) * 1_000;
        break;
      }
    }
  }
  if (isChunked && length !== undefined) throw new BadHttpAnswer("a length and chunks");
  const hasNoBody = status === 204 || status === 304;
  return {
    status,
    encoding: encoding === "identity" || encoding === "" ? undefined : encoding,
    isReusable,
    keepAliveMs,
    length: hasNoBody ? 0 : isChunked ? "chunked" : (length ?? "untilEnd"),
  };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\r\n", from);
  return end < 0 ? text.length : end;
}

function lengthOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new BadHttpAnswer("a length that is no number");
  return Number(text);
}

function sizeOfChunk(line: string): number {
  const size = /^([\da-f]{1,12})[\t ]*(?:;|$)/i.exec(line)?.[1];
  if (size === undefined) throw new BadHttpAnswer("a chunk without a length");
  return Number.parseInt(size, 16);
}
