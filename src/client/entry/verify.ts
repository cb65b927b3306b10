// What `import … from "tradewire/verify"` gives: the proof alone, without a network.
export { Address } from "../../primitives/address.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
export { type Explanation, explainTransaction } from "../verify/explain-transaction.ts";
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
export {
  type BuildAnswer,
  type ExpectedLeg,
  expectTrade,
  type TradeExpectation,
  type TradeLimits,
  type TradeOrder,
} from "../verify/trade-expectation.ts";
export { findProblems } from "../verify/verification.ts";
export { type VerifyOptions, verifyTransaction } from "../verify/verify-transaction.ts";
