import { TradewireError } from "../../errors/tradewire-error.ts";

/** The request fields that carry the arguments of a trade. An argument that the request implies has no field. */
export interface TradeFields {
  readonly amount: string;
  readonly inMint: string | undefined;
  readonly outMint: string | undefined;
}

/**
 * Runs a trade call; if an argument is at fault, the error names the request field that carries it. A call that does not wait
 * returns no promise.
 *
 * @throws TradewireError as `call`
 */
export function namingFields<T>(fields: TradeFields, call: () => T | Promise<T>): T | Promise<T> {
  const refuse = (error: unknown): never => {
    throw error instanceof TradewireError ? inFields(error, fields) : error;
  };
  try {
    const result = call();
    return result instanceof Promise ? result.catch(refuse) : result;
  } catch (error) {
    return refuse(error);
  }
}

function inFields(error: TradewireError, fields: TradeFields): TradewireError {
  const { field: argument, ...facts } = error.facts;
  if (argument !== "amount" && argument !== "inMint" && argument !== "outMint") return error;
  const field = fields[argument];
  return new TradewireError(error.code, error.message, field === undefined ? facts : { ...facts, field });
}
