import { type Code, ConnectError } from "@connectrpc/connect";
import { TradewireError } from "../../errors/tradewire-error.ts";

/**
 * The refusal of a request that breaks a rule of its protocol: the protocol prescribes the code, its `cause` is what the product says.
 *
 * @param field the header at fault, if it is one
 * @param metadata headers that the protocol asks for
 */
export function protocolError(
  code: Code,
  message: string,
  field?: string,
  metadata?: Readonly<Record<string, string>>,
): ConnectError {
  const cause = new TradewireError("VALIDATION_ERROR", message, field === undefined ? {} : { field });
  return new ConnectError(message, code, metadata, undefined, cause);
}
