import type { ServerResponse } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from "@connectrpc/connect/protocol-connect";
import type { Output } from "../call/invoker.ts";
import { type AnswerBytes, beginAnswer } from "../http/lane/answer-bytes.ts";
import { binaryDecoderOf, binaryEncoderOf } from "./forms/binary-form.ts";
import type { JsonForm } from "./forms/json-form.ts";
import { answerType, endAnswer, endResponse, readTimeout, type Wire } from "./wire.ts";

/** Connect with JSON. */
export function createConnectJsonWire({ decode, encode }: JsonForm): Wire {
  return createConnectWire("application/json", decode, encode);
}

/** Connect with binary messages. */
export function createConnectBinaryWire(method: DescMethodUnary): Wire {
  return createConnectWire("application/proto", binaryDecoderOf(method), binaryEncoderOf(method));
}

function createConnectWire(
  contentType: string,
  decode: (body: Buffer) => Message,
  encode: (output: Output, out: AnswerBytes) => void,
): Wire {
  const type = answerType(contentType);
  return {
    overheadBytes: 0,
    codingHeader: "content-encoding",
    decode: (body, inflate) => decode(inflate === undefined || body.length === 0 ? body : inflate(body)),
    deadlineMs: (headers) => readTimeout(parseTimeout, headers, "connect-timeout-ms"),
    answer(response, output, state, trailer) {
      const body = beginAnswer();
      encode(output, body);
      setPrefixedTrailer(response, trailer);
      endAnswer(response, type, body, state);
    },
    refuse(response, error, trailer) {
      for (const [name, value] of error.metadata) response.setHeader(name, value);
      setPrefixedTrailer(response, trailer);
      endResponse(response, codeToHttpStatus(error.code), "application/json", errorToJsonBytes(error, undefined));
    },
  };
}

/** Unary Connect responses carry trailers as prefixed headers. */
function setPrefixedTrailer(response: ServerResponse, trailer: Headers | undefined): void {
  for (const [name, value] of trailer ?? []) response.setHeader(`trailer-${name}`, value);
}
