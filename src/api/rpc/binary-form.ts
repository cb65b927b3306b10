import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Output } from "../call/invoker.ts";
import { createBinaryEncoder } from "./encode/binary-encoder.ts";
import { toMessage } from "./wire.ts";

/** Decodes the request of a method. @throws TradewireError VALIDATION_ERROR */
export function decodeBinary(method: DescMethodUnary, bytes: Uint8Array): Message {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${method.input.typeName} message.`);
  }
}

/** Encodes the responses of a method. `head` zeroed bytes come before the message. */
export function binaryEncoderOf({ output: desc }: DescMethodUnary): (output: Output, head?: number) => Buffer {
  const encode = createBinaryEncoder(desc);
  if (encode !== undefined) return encode;
  return (output, head = 0) => Buffer.concat([Buffer.alloc(head), toBinary(desc, toMessage(desc, output))]);
}
