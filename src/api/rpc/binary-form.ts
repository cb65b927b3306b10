import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Output } from "../call/invoker.ts";
import { createBinaryEncoder } from "./encode/binary-encoder.ts";
import { bytesAsText } from "./encode/binary-text.ts";
import { toMessage } from "./wire.ts";

/** Decodes the request of a method. @throws TradewireError VALIDATION_ERROR */
export function decodeBinary(method: DescMethodUnary, bytes: Uint8Array): Message {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${method.input.typeName} message.`);
  }
}

/** Encodes the responses of a method as texts whose characters are the bytes. */
export function binaryEncoderOf({ output: desc }: DescMethodUnary): (output: Output) => string {
  return createBinaryEncoder(desc) ?? ((output) => bytesAsText(toBinary(desc, toMessage(desc, output))));
}
