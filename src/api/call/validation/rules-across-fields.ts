import { type DescMessage, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { message as messageRules, type Rule } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Break } from "./field-rules.ts";

/** True for a message that keeps the rule. */
type Keeps = (message: Message & Readonly<Record<string, unknown>>) => boolean;

const has = (message: object, localName: string): boolean => Object.hasOwn(message, localName);

const SOL_NAMES = [
  "SOL",
  "So11111111111111111111111111111111111111111",
  "So11111111111111111111111111111111111111112",
] as const;
const SOL: ReadonlySet<unknown> = new Set(SOL_NAMES);
const SOL_LIST = `[${SOL_NAMES.map((name) => `'${name}'`).join(", ")}]`;

/** The implementations of the definition's rules, by their whole expression: a rule that is changed there is no longer found here. */
const KNOWN: ReadonlyMap<string, Keeps> = new Map<string, Keeps>([
  [
    "(has(this.token_amount) || has(this.token_amount_raw)) != has(this.sell_percent)",
    (message) => (has(message, "tokenAmount") || has(message, "tokenAmountRaw")) !== has(message, "sellPercent"),
  ],
  [
    `this.input_mint != this.output_mint && !(this.input_mint in ${SOL_LIST} && this.output_mint in ${SOL_LIST})`,
    ({ inputMint, outputMint }) => inputMint !== outputMint && !(SOL.has(inputMint) && SOL.has(outputMint)),
  ],
]);

/** A rule across the fields of a request. */
export interface AcrossRule {
  readonly keeps: Keeps;
  readonly broken: Break;
}

/** The rules across the fields of a request. @throws Error if there is one that is not known here */
export function rulesAcrossFields(desc: DescMessage): readonly AcrossRule[] {
  if (!hasOption(desc, messageRules)) return [];
  const { cel, celExpression, oneof } = getOption(desc, messageRules);
  return [...cel, ...celExpression, ...oneof].map((rule) => {
    const keeps = typeof rule === "object" && "expression" in rule ? KNOWN.get(rule.expression) : undefined;
    if (keeps === undefined) throw new Error(`${desc} has a rule that is not known here`);
    const { id, message } = rule as Rule;
    return { keeps, broken: { ruleId: id, reason: message } };
  });
}
