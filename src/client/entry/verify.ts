// What `import … from "tradewire/verify"` gives: the proof alone, without a network.
export { Address } from "../../primitives/address.ts";
export { MIDDLE_MINTS, type TradeLimits } from "../order/limits.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
export type { BuildAnswer } from "../verify/build-answer.ts";
export { type Explanation, explainTransaction } from "../verify/explain/explain-transaction.ts";
export { describeProblem, type Problem, UnexpectedTransactionError } from "../verify/problem.ts";
export {
  type LookupTables,
  lookupTablesOf,
  type MessageAccount,
  type MessageConfig,
  type MessageInstruction,
  type ReadTransaction,
  readTransaction,
} from "../verify/read-transaction.ts";
export type { ExpectedLeg } from "../verify/route/announced-route.ts";
export { expectTrade, type TradeExpectation, type TradeOrder } from "../verify/trade-expectation.ts";
export { findProblems } from "../verify/verification.ts";
export { type VerifyOptions, verifyTransaction } from "../verify/verify-transaction.ts";
