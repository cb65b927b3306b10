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
  readonly #body: Buffer;
  readonly #headers: OutgoingHttpHeaders;
  /** By coding, each compressed when the first client accepts it. */
  readonly #variants = new Map<string | undefined, Variant>();

  /** @param headers sent with it, beside those of its bytes */
  constructor(body: Buffer, headers: OutgoingHttpHeaders) {
    this.#hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    this.#body = body;
    this.#headers = headers;
  }

  /** Answers a request for it: 304 if the client has it, else the smallest coding that the client accepts. */
  send(request: FastifyRequest, response: ServerResponse): void {
    const { body, headers } = this.#variantFor(request.headers["accept-encoding"]);
    const vary = response.getHeader("vary");
    const all = { ...headers, vary: vary === undefined ? "accept-encoding" : `${String(vary)}, accept-encoding` };
    const known = request.headers["if-none-match"];
    if (known === "*" || known?.includes(this.#hash)) response.writeHead(304, all).end();
    else {
      response.writeHead(200, { ...all, "content-length": body.length });
      if (request.method === "HEAD") response.end();
      else if (request.raw.httpVersionMajor === 1) response.end(body);
      else writeSlices(response, body, 0);
    }
  }

  #variantFor(accepted: string | string[] | undefined): Variant {
    const codings = String(accepted ?? "")
      .split(",")
      .filter((coding) => !/;\s*q=0(?:\.0*)?\s*$/.test(coding))
      .map((coding) => coding.split(";", 1)[0]!.trim());
    const coding = codings.includes("br") ? "br" : codings.includes("gzip") ? "gzip" : undefined;
    const variant = this.#variants.get(coding) ?? this.#make(coding);
    this.#variants.set(coding, variant);
    return variant;
  }

  #make(coding: "br" | "gzip" | undefined): Variant {
    if (coding === undefined) return { body: this.#body, headers: { ...this.#headers, etag: `"${this.#hash}"` } };
    const headers = { ...this.#headers, etag: `"${this.#hash}-${coding}"`, "content-encoding": coding };
    return { body: compress(this.#body, coding), headers };
  }
}

function compress(body: Buffer, coding: "br" | "gzip"): Buffer {
  if (coding === "gzip") return gzipSync(body);
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}

/** Writes the rest of a body piece by piece; a piece waits until the one before it is sent. */
function writeSlices(response: ServerResponse, body: Buffer, at: number): void {
  // No two pieces have one length, so that a change in waiting bytes shows that the stream is being read.
  const end = at + SLICE_BYTES + (at % 31);
  if (end >= body.length) response.end(body.subarray(at));
  else {
    response.write(body.subarray(at, end), (error) => {
      if (!error) writeSlices(response, body, end);
    });
  }
}
