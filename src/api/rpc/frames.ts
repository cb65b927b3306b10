import { Code } from "@connectrpc/connect";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Inflate } from "./coding/inflate.ts";
import { protocolError } from "./protocol-error.ts";

/** Bytes of flags and length before each message of gRPC and gRPC-Web. */
export const FRAME_HEAD = 5;
/** The flag of a compressed message. */
const COMPRESSED = 1;

/** The flags and the length before a payload of so many bytes, as a text whose characters are bytes. */
export function frameHead(flags: number, length: number): string {
  return String.fromCharCode(flags, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff);
}

/**
 * The single message of a unary request.
 *
 * @param inflate undoes the coding that a header names
 * @throws ConnectError unimplemented if there is none or more than one; internal if it is compressed without naming how
 * @throws TradewireError VALIDATION_ERROR if it is truncated, has other flags or is not compressed as said; BODY_TOO_LARGE
 */
export function unframe(body: Buffer, inflate?: Inflate): Buffer {
  if (body.length === 0) throw protocolError(Code.Unimplemented, "The request contains no message.");
  const end = body.length < FRAME_HEAD ? Number.POSITIVE_INFINITY : FRAME_HEAD + body.readUInt32BE(1);
  if (end > body.length) {
    throw new TradewireError("VALIDATION_ERROR", "The request message is truncated.");
  }
  if (end < body.length) throw protocolError(Code.Unimplemented, "The request contains more than one message.");
  if (body[0]! > COMPRESSED) {
    throw new TradewireError(
      "VALIDATION_ERROR",
      "The frame has a flag that no request has: only compression may be set.",
    );
  }
  if (body[0] === COMPRESSED && inflate !== undefined) return inflate(body.subarray(FRAME_HEAD));
  if (body[0] !== 0) throw protocolError(Code.Internal, "The message is compressed, but no header says how.");
  return body.subarray(FRAME_HEAD);
}
