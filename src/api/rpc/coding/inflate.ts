import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { bodyTooLarge } from "../../http/read-body.ts";
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

/** True if messages in this coding are read here; undefined is none. */
export const isKnownCoding = (coding: string | string[] | undefined): boolean =>
  coding === undefined || coding === "identity" || CODINGS.has(coding);

/** What undoes a known coding, and makes no more than the limit of anything; undefined if there is nothing to undo. */
export function inflaterOf(coding: string | string[] | undefined, limitBytes: number): Inflate | undefined {
  const decompress = CODINGS.get(coding);
  if (decompress === undefined) return undefined;
  return (bytes) => {
    try {
      return decompress(bytes, { maxOutputLength: limitBytes });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge(limitBytes);
      throw new TradewireError("VALIDATION_ERROR", `The request is not compressed with ${coding}, as it says.`);
    }
  };
}
