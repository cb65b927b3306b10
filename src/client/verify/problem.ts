import type { Address } from "../../primitives/address.ts";
import { TradeError } from "../trade-error.ts";

/** One thing in a transaction that the trade does not explain. */
export interface Problem {
  /** The instruction, counted from 1; undefined if the problem concerns the whole message. */
  readonly instruction: number | undefined;
  readonly account: Address | undefined;
  /** In plain English. */
  readonly reason: string;
}

/** The transaction is not the trade that was ordered. Nothing was signed. */
export class UnexpectedTransactionError extends TradeError {
  override readonly name: string = "UnexpectedTransactionError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    super("UNEXPECTED_TRANSACTION", `Refused to sign: ${first === undefined ? "" : describeProblem(first)}${more}.`);
    this.problems = problems;
  }
}

/** The problem as one line of text. */
export function describeProblem({ instruction, account, reason }: Problem): string {
  const where = instruction === undefined ? "" : `instruction ${instruction}: `;
  return `${where}${reason}${account === undefined ? "" : ` [${account}]`}`;
}
