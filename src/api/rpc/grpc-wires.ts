import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { addHeaders, forEachHeader, responseHeaders } from "../call/call-state.ts";
import type { Output } from "../call/invoker.ts";
import { type AnswerBytes, beginAnswer } from "../http/lane/answer-bytes.ts";
import { StreamResponse } from "../http/lane/stream-exchange.ts";
import { binaryDecoderOf, binaryEncoderOf } from "./forms/binary-form.ts";
import type { JsonForm } from "./forms/json-form.ts";
import { FRAME_HEAD, frameHead, unframe } from "./frames.ts";
import { answerType, endAnswer, endResponse, readTimeout, type Wire } from "./wire.ts";

/** The flags of an uncompressed message. */
const MESSAGE = 0;
const GRPC_OK = { "grpc-status": "0" };

/** How messages are written within frames. */
interface FramedForm {
  /** Ends the content type. */
  readonly suffix: "proto" | "json";
  /** @throws TradewireError VALIDATION_ERROR */
  decode(bytes: Buffer): Message;
  encode(output: Output, out: AnswerBytes): void;
}

/** Messages in their binary form. */
export const binaryFrames = (method: DescMethodUnary): FramedForm => ({
  suffix: "proto",
  decode: binaryDecoderOf(method),
  encode: binaryEncoderOf(method),
});

/** Messages as JSON. */
export const jsonFrames = (form: JsonForm): FramedForm => ({ suffix: "json", ...form });

/** gRPC over HTTP/2, whose responses have real trailers. */
export function createGrpcWire({ suffix, decode, encode }: FramedForm): Wire {
  const contentType = `application/grpc+${suffix}`;
  return {
    overheadBytes: FRAME_HEAD,
    codingHeader: "grpc-encoding",
    decode: (body, inflate) => decode(unframe(body, inflate)),
    deadlineMs: (headers) => readTimeout(parseTimeout, headers, "grpc-timeout"),
    answer(response, output, state, trailer) {
      const trailers = trailer === undefined ? GRPC_OK : { ...Object.fromEntries(trailer), ...GRPC_OK };
      const out = beginAnswer(FRAME_HEAD);
      encode(output, out);
      out.front(frameHead(MESSAGE, out.length));
      const stream = StreamResponse.unset(response);
      if (stream !== undefined) {
        const head = [":status", "200"];
        addHeaders(state, head);
        head.push("content-type", contentType);
        stream.answer(head, trailers, out.take());
        return;
      }
      forEachHeader(responseHeaders(state), (name, value) => response.setHeader(name, value));
      endWithTrailers(response, contentType, out.text(), trailers);
    },
    refuse(response, error, trailer) {
      endWithTrailers(response, contentType, undefined, Object.fromEntries(failureTrailer(error, trailer)));
    },
  };
}

/** gRPC-Web, whose trailers are the last frame of the body. */
export function createGrpcWebWire({ suffix, decode, encode }: FramedForm): Wire {
  const contentType = `application/grpc-web+${suffix}`;
  const type = answerType(contentType);
  const success = trailerFrame(new Headers(GRPC_OK));
  return {
    overheadBytes: FRAME_HEAD,
    codingHeader: "grpc-encoding",
    decode: (body, inflate) => decode(unframe(body, inflate)),
    deadlineMs: (headers) => readTimeout(parseTimeout, headers, "grpc-timeout"),
    answer(response, output, state, trailer) {
      const last = trailer === undefined ? success : trailerFrame(new Headers([...trailer, ["grpc-status", "0"]]));
      const out = beginAnswer();
      encode(output, out);
      out.front(frameHead(MESSAGE, out.length)).latin1(last);
      endAnswer(response, type, out, state);
    },
    refuse(response, error, trailer) {
      endResponse(response, 200, contentType, trailerFrame(failureTrailer(error, trailer)));
    },
  };
}

/** The last frame of a gRPC-Web response, as a text whose characters are bytes. */
export function trailerFrame(trailer: Headers): string {
  const bytes = trailerSerialize(trailer);
  return frameHead(trailerFlag, bytes.length) + Buffer.from(bytes).toString("latin1");
}

function failureTrailer(error: ConnectError, trailer: Headers | undefined): Headers {
  const whole = new Headers(trailer);
  for (const [name, value] of error.metadata) whole.append(name, value);
  return setTrailerStatus(whole, error);
}

function endWithTrailers(
  response: ServerResponse,
  contentType: string,
  body: string | undefined,
  trailers: OutgoingHttpHeaders,
): void {
  const http2 = response as unknown as Http2ServerResponse;
  http2.writeHead(200, { "content-type": contentType });
  http2.addTrailers(trailers);
  if (body === undefined) http2.end();
  else http2.end(body, "latin1");
}
