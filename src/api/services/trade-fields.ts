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
  try {
    const result = call();
    return result instanceof Promise ? namingFieldsLater(fields, result) : result;
  } catch (error) {
    throw inFields(error, fields);
  }
}

/** Apart, so that a call that does not wait makes nothing for it. */
async function namingFieldsLater<T>(fields: TradeFields, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw inFields(error, fields);
  }
}

/** The error of a trade call; if an argument is at fault, by the name of the request field that carries it. */
export function inFields(error: unknown, fields: TradeFields): unknown {
  if (!(error instanceof TradewireError)) return error;
  const { field: argument, ...facts } = error.facts;
  if (argument !== "amount" && argument !== "inMint" && argument !== "outMint") return error;
  const field = fields[argument];
  return new TradewireError(error.code, error.message, field === undefined ? facts : { ...facts, field });
}
