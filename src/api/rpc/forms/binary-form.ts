import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { Output } from "../../call/invoker.ts";
import { type BinaryEncoder, createBinaryEncoder } from "../encode/binary-encoder.ts";
import { toMessage } from "../wire.ts";

/** Decodes the requests of a method. What it returns throws TradewireError VALIDATION_ERROR. */
export function binaryDecoderOf({ input: desc }: DescMethodUnary): (bytes: Buffer) => Message {
  return (bytes) => {
    try {
      return fromBinary(desc, bytes);
    } catch {
      throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${desc.typeName} message.`);
    }
  };
}

/** Writes the responses of a method. */
export function binaryEncoderOf({ output: desc }: DescMethodUnary): BinaryEncoder {
  return createBinaryEncoder(desc) ?? ((output, out) => out.bytes(toBinary(desc, toMessage(desc, output as Output))));
}
