import {
  type DescMethod,
  fromJson,
  type JsonValue,
  type Message,
  type Registry,
  toJsonString,
} from "@bufbuild/protobuf";
import type { Output } from "../../call/invoker.ts";
import type { AnswerBytes } from "../../http/lane/answer-bytes.ts";
import { parseJson } from "../../http/parse-json.ts";
import { createJsonDecoder } from "../../rest/json-decoder.ts";
import { createProtoJsonEncoder } from "../encode/proto-json-encoder.ts";
import { toMessage } from "../wire.ts";

/** The messages of a method as ProtoJSON, on whichever wire. */
export interface JsonForm {
  /** @throws TradewireError VALIDATION_ERROR */
  decode(bytes: Buffer): Message;
  encode(output: Output, out: AnswerBytes): void;
}

/** @param registry resolves google.protobuf.Any. Without it compiled coders are used, which support no Any */
export function createJsonForm(
  { input, output }: Pick<DescMethod, "input" | "output">,
  registry: Registry | undefined,
): JsonForm {
  const decode =
    registry === undefined
      ? createJsonDecoder(input, "proto")
      : (json: unknown) => fromJson(input, json as JsonValue, { registry });
  const options = registry === undefined ? undefined : { registry };
  const encode = registry === undefined ? createProtoJsonEncoder(output) : undefined;
  return {
    decode: (bytes) => decode(parseJson(bytes)),
    encode: encode ?? ((value, out) => out.bytes(Buffer.from(toJsonString(output, toMessage(output, value), options)))),
  };
}
