import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Output } from "../call/invoker.ts";
import { createEverydayDecoder } from "./decode/everyday-decoder.ts";
import { createBinaryEncoder } from "./encode/binary-encoder.ts";
import { bytesAsText } from "./encode/binary-text.ts";
import { toMessage } from "./wire.ts";

/** Decodes the requests of a method. What it returns throws TradewireError VALIDATION_ERROR. */
export function binaryDecoderOf({ input: desc }: DescMethodUnary): (bytes: Buffer) => Message {
  const decode = createEverydayDecoder(desc);
  return (bytes) => {
    try {
      return decode(bytes) ?? fromBinary(desc, bytes);
    } catch {
      throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${desc.typeName} message.`);
    }
  };
}

/** Encodes the responses of a method as texts whose characters are the bytes. */
export function binaryEncoderOf({ output: desc }: DescMethodUnary): (output: Output) => string {
  return createBinaryEncoder(desc) ?? ((output) => bytesAsText(toBinary(desc, toMessage(desc, output))));
}
