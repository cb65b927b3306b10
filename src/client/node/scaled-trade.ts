import { readU64, writeU64 } from "../../primitives/bytes.ts";
import { readBaseInstruction } from "../verify/base-instruction.ts";
import { findSwapTable, swapBounds } from "../verify/match-swap.ts";
import type { MessageInstruction, ReadTransaction } from "../verify/read-transaction.ts";
import type { Moved } from "./wallet-changes.ts";

/**
 * In the place of closing an account, which fails while it holds tokens, as it does if less is sold. Revoking an absent delegate takes
 * the same accounts and changes nothing.
 */
const TOKEN_REVOKE = 5;
/** Where the guard of the total has its amount. */
const GUARD_AMOUNT = 1;

/** A transaction for a part of the amount, and its instructions. */
interface ScaledTrade {
  readonly wire: Uint8Array;
  readonly instructions: readonly MessageInstruction[];
}

/**
 * The same transaction for one part in `divisor` of the amount, to measure the price before the trade moves it. Only for
 * simulation: it has no bounds. Accounts that the whole trade empties and closes stay open.
 */
export function scaledTrade(wire: Uint8Array, { instructions }: ReadTransaction, divisor: bigint): ScaledTrade {
  const scaled = wire.slice();
  for (const instruction of instructions) {
    const { data } = instruction;
    // The data of an instruction is a part of the wire bytes, so that it has a place in their copy.
    const start = data.byteOffset - wire.byteOffset;
    const table = findSwapTable(instruction);
    if (table !== undefined) {
      const isExactIn = table.exact === "in";
      const exactAt = isExactIn ? table.inAt : table.outAt;
      writeU64(scaled, start + exactAt, readU64(data, exactAt) / divisor);
      if (isExactIn) writeU64(scaled, start + table.outAt, 1n);
      continue;
    }
    const kind = readBaseInstruction(instruction)?.kind;
    if (kind === "closeTokenAccount") scaled[start] = TOKEN_REVOKE;
    if (kind === "requireBalance") writeU64(scaled, start + GUARD_AMOUNT, 0n);
  }
  return {
    wire: scaled,
    instructions: instructions.map(({ data, ...rest }) => {
      const start = data.byteOffset - wire.byteOffset;
      return { ...rest, data: scaled.subarray(start, start + data.length) };
    }),
  };
}

/**
 * The price of a simulated trade: output for one unit of input. Over two markets the second takes a fixed part of what the first
 * yields, so that their prices are multiplied. Undefined if the amount between them is unknown. Over parallel paths what stays of
 * the mints between counts at its announced price.
 */
export function priceOf(
  instructions: readonly MessageInstruction[],
  { inAmount, outAmount, rest, surplus }: Moved,
): number | undefined {
  const [first, second] = instructions.flatMap((instruction) => {
    const table = findSwapTable(instruction);
    return table === undefined ? [] : [{ exact: table.exact, ...swapBounds(table, instruction.data) }];
  });
  if (first === undefined || inAmount <= 0n || outAmount <= 0n) return undefined;
  if (rest === "none") return Number(outAmount) / Number(inAmount);
  if (rest === "several") return (Number(outAmount) + surplus) / Number(inAmount);
  if (second === undefined) return undefined;
  const isKnown = second.exact === "in" || first.exact === "out";
  const yielded = second.exact === "in" ? second.mostIn + rest : first.leastOut;
  const taken = yielded - rest;
  if (!isKnown || yielded <= 0n || taken <= 0n) return undefined;
  return (Number(yielded) / Number(inAmount)) * (Number(outAmount) / Number(taken));
}
