import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { bodyTooLarge } from "../../http/read-body.ts";
import { protocolError } from "../protocol-error.ts";
import { withNarrowWindow } from "./brotli-window.ts";

/** The message that some bytes are a coding of. @throws TradewireError VALIDATION_ERROR; BODY_TOO_LARGE */
export type Inflate = (bytes: Buffer) => Buffer;

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Buffer;

const CODINGS: ReadonlyMap<unknown, Decompress> = new Map<unknown, Decompress>([
  ["gzip", gunzipSync],
  ["br", (bytes, options) => brotliDecompressSync(withNarrowWindow(bytes, options.maxOutputLength), options)],
]);

/** The same codings for calls that the RPC library reads. */
export const LIBRARY_CODINGS: Compression[] = [
  compressionGzip,
  {
    ...compressionBrotli,
    decompress: (bytes, maxBytes) => compressionBrotli.decompress(withNarrowWindow(bytes, maxBytes), maxBytes),
  },
];

/** The headers that name the coding of messages, and those that say which are read. */
const ACCEPTING = {
  "content-encoding": "accept-encoding",
  "connect-content-encoding": "connect-accept-encoding",
  "grpc-encoding": "grpc-accept-encoding",
} as const;

/** A header that names the coding of messages. */
export type CodingHeader = keyof typeof ACCEPTING;

/**
 * What undoes the coding that a header names, and makes no more than the limit of anything; undefined if there is nothing to undo.
 *
 * @throws ConnectError unimplemented if that coding is not read here
 */
export function inflaterOf(headers: IncomingHttpHeaders, name: CodingHeader, limitBytes: number): Inflate | undefined {
  const named = headers[name];
  // Names of content codings mean the same in any case.
  const coding = name === "content-encoding" ? String(named ?? "identity").toLowerCase() : (named ?? "identity");
  if (coding === "identity") return undefined;
  const decompress = CODINGS.get(coding);
  if (decompress === undefined) throw unknownCoding(name, coding);
  return (bytes) => {
    try {
      return decompress(bytes, { maxOutputLength: limitBytes });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge(limitBytes);
      throw new TradewireError("VALIDATION_ERROR", `The request is not compressed with ${coding}, as it says.`);
    }
  };
}

function unknownCoding(name: CodingHeader, coding: string | readonly string[]): ConnectError {
  const known = [...CODINGS.keys()].join(",");
  const message = `The request is compressed with ${coding}; the service reads ${known}.`;
  return protocolError(Code.Unimplemented, message, name, { [ACCEPTING[name]]: known });
}
