import { TradewireError } from "../../errors/tradewire-error.ts";

/** The request fields that carry the arguments of a trade. An argument that the request implies has no field. */
export interface TradeFields {
  readonly amount: string;
  readonly inMint: string | undefined;
  readonly outMint: string | undefined;
}

/**
 * Runs a trade call; if an argument is at fault, the error names the request field that carries it.
 *
 * @throws TradewireError as `call`
 */
export async function namingFields<T>(fields: TradeFields, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof TradewireError ? inFields(error, fields) : error;
  }
}

function inFields(error: TradewireError, fields: TradeFields): TradewireError {
  const { field: argument, ...facts } = error.facts;
  if (argument !== "amount" && argument !== "inMint" && argument !== "outMint") return error;
  const field = fields[argument];
  return new TradewireError(error.code, error.message, field === undefined ? facts : { ...facts, field });
}
