import { createHash } from "node:crypto";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyRequest } from "fastify";

/** Bytes written at a time over HTTP/2, so that what a slow client reads is seen. */
const SLICE_BYTES = 4 * 1024;
/** Of 11; more takes longer than it saves. */
const BROTLI_QUALITY = 6;

/** One coding of a document. */
interface Variant {
  readonly body: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

/** A document made once: every answer shares its bytes, plain and compressed. */
export class SharedDocument {
  readonly #hash: string;
  readonly #plain: Variant;
  readonly #gzip: Variant;
  readonly #brotli: Variant;

  /** @param headers sent with it, beside those of its bytes */
  constructor(body: Buffer, headers: OutgoingHttpHeaders) {
    this.#hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    const variant = (bytes: Buffer, coding?: "gzip" | "br"): Variant => ({
      body: bytes,
      headers: {
        ...headers,
        etag: coding === undefined ? `"${this.#hash}"` : `"${this.#hash}-${coding}"`,
        ...(coding === undefined ? {} : { "content-encoding": coding }),
      },
    });
    this.#plain = variant(body);
    this.#gzip = variant(gzipSync(body), "gzip");
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    this.#brotli = variant(brotliCompressSync(body, { params }), "br");
  }

  /** Answers a request for it: 304 if the client has it, else the smallest coding that the client accepts. */
  send(request: FastifyRequest, response: ServerResponse): void {
    const { body, headers } = this.#variantFor(request.headers["accept-encoding"]);
    const vary = response.getHeader("vary");
    const all = { ...headers, vary: vary === undefined ? "accept-encoding" : `${String(vary)}, accept-encoding` };
    if (request.headers["if-none-match"]?.includes(this.#hash)) response.writeHead(304, all).end();
    else {
      response.writeHead(200, { ...all, "content-length": body.length });
      if (request.method === "HEAD") response.end();
      else if (request.raw.httpVersionMajor === 1) response.end(body);
      else writeSlices(response, body, 0);
    }
  }

  #variantFor(accepted: string | string[] | undefined): Variant {
    if (accepted === undefined) return this.#plain;
    const codings = String(accepted)
      .split(",")
      .filter((coding) => !/;\s*q=0(?:\.0*)?\s*$/.test(coding))
      .map((coding) => coding.split(";", 1)[0]!.trim());
    return codings.includes("br") ? this.#brotli : codings.includes("gzip") ? this.#gzip : this.#plain;
  }
}

/** Writes the rest of a body piece by piece; a piece waits until the one before it is sent. */
function writeSlices(response: ServerResponse, body: Buffer, at: number): void {
  // No two pieces are of one length: a stream whose waiting bytes change is one that is read.
  const end = at + SLICE_BYTES + (at % 31);
  if (end >= body.length) response.end(body.subarray(at));
  else {
    response.write(body.subarray(at, end), (error) => {
      if (!error) writeSlices(response, body, end);
    });
  }
}
