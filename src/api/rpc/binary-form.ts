import { type DescMethodUnary, fromBinary, type Message } from "@bufbuild/protobuf";
import { TradewireError } from "../../errors/tradewire-error.ts";

/** Decodes the request of a method. @throws TradewireError VALIDATION_ERROR */
export function decodeBinary(method: DescMethodUnary, bytes: Uint8Array): Message {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${method.input.typeName} message.`);
  }
}
