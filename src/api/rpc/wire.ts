import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { create, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import { invalidField } from "../../errors/tradewire-error.ts";
import { type CallState, forEachHeader, responseHeaders } from "../call/call-state.ts";
import type { Output } from "../call/invoker.ts";
import type { AnswerBytes } from "../http/lane/answer-bytes.ts";
import { beginningOfHead, LaneResponse } from "../http/lane/lane-exchange.ts";
import type { Piece } from "../http/lane/piece.ts";
import type { CodingHeader, Inflate } from "./coding/inflate.ts";

/**
 * The everyday form of a unary call on one typed wire: one message in, one uncompressed message out. Such calls run through the
 * same invoker as REST at a quarter of the RPC library's cost; every other form is left to the library.
 */
export interface Wire {
  /** Bytes of framing on top of the message. */
  readonly overheadBytes: number;
  /** The header that names the coding of a compressed message. */
  readonly codingHeader: CodingHeader;
  /**
   * @param inflate undoes the coding that the header names; undefined if it names none
   * @throws TradewireError VALIDATION_ERROR; ConnectError on wrong framing
   */
  decode(body: Buffer, inflate: Inflate | undefined): Message;
  /** The client's own deadline, in milliseconds from now. @throws TradewireError VALIDATION_ERROR if it cannot be read */
  deadlineMs(headers: IncomingHttpHeaders): number | undefined;
  /** Writes the response and ends it. @param state what the service's own headers say */
  answer(response: ServerResponse, output: Output, state: CallState, trailer?: Headers): void;
  /** Writes the error and ends the response. */
  refuse(response: ServerResponse, error: ConnectError, trailer?: Headers): void;
}

/** Longest deadline that a timer is set for; no call takes as long. Milliseconds. */
const MAX_DEADLINE_MS = 300_000;

/** The forms of deadlines, by their headers. */
const TIMEOUTS = {
  "grpc-timeout": "one to eight digits and a unit: H, M, S, m, u or n",
  "connect-timeout-ms": "one to ten digits",
} as const;

/**
 * Reads a deadline header, however far the deadline is; undefined if there is none.
 * @throws TradewireError VALIDATION_ERROR if it cannot be read
 */
export function readTimeout(
  parse: typeof parseTimeout,
  headers: IncomingHttpHeaders,
  name: keyof typeof TIMEOUTS,
): number | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  const { timeoutMs, error } = parse(String(value), Number.MAX_SAFE_INTEGER);
  if (error !== undefined) throw invalidField(name, `${name} must be ${TIMEOUTS[name]}.`);
  return Math.min(timeoutMs!, MAX_DEADLINE_MS);
}

/** The message of an output, for encoders that need one. */
export function toMessage(desc: DescMessage, output: Output): Message {
  return isMessage(output) ? output : create(desc, output);
}

/** The content type of a wire's answers, and the beginning of their heads. */
interface AnswerType {
  readonly contentType: string;
  readonly beginning: Piece;
}

/** Creates the beginning of answers with that type. */
export function answerType(contentType: string): AnswerType {
  return { contentType, beginning: beginningOfHead(`\r\ncontent-type: ${contentType}\r\ncontent-length: `) };
}

/**
 * Writes a whole response with the status 200 at once.
 *
 * @param state what the service's own headers say
 */
export function endAnswer(response: ServerResponse, type: AnswerType, body: AnswerBytes, state: CallState): void {
  const lane = LaneResponse.unset(response);
  if (lane !== undefined) {
    lane.answer(type.beginning, state, body);
    return;
  }
  endResponse(response, 200, type.contentType, body.text(), responseHeaders(state));
}

/**
 * Writes a whole response at once.
 *
 * @param body a text's characters are its bytes: Node writes it together with the headers
 * @param lines further headers, names and values in turn
 */
export function endResponse(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array | string,
  lines: readonly string[] = [],
): void {
  if (response.req.httpVersionMajor === 1) {
    // Node writes a list of headers as it is, and makes a list of anything else.
    response.writeHead(status, ["content-type", contentType, "content-length", String(body.length), ...lines]);
  } else {
    forEachHeader(lines, (name, value) => response.setHeader(name, value));
    response.writeHead(status, { "content-type": contentType, "content-length": body.length });
  }
  if (typeof body === "string") response.end(body, "latin1");
  else response.end(body);
}
