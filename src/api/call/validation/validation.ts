import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import { type FieldViolation, invalidField, TradewireError } from "../../../errors/tradewire-error.ts";
import { type AmountFault, amountFault } from "./amount-forms.ts";
import { compileRules, type RequestRules, type Violation } from "./request-rules.ts";

/** Only patterns of our own definitions, all of them linear: the platform's engine is safe and eight times faster than the default. */
const patterns = new Map<string, RegExp>();
function matches(pattern: string, text: string): boolean {
  let expression = patterns.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    patterns.set(pattern, expression);
  }
  return expression.test(text);
}

const compiled = new WeakMap<DescMessage, RequestRules>();

function rulesOf(desc: DescMessage): RequestRules {
  let rules = compiled.get(desc);
  if (rules === undefined) {
    rules = compileRules(desc, matches);
    compiled.set(desc, rules);
  }
  return rules;
}

/**
 * Checks a request against the rules of its definition. Unknown fields are refused: one may be a limit of a later version.
 * @throws TradewireError VALIDATION_ERROR naming the field
 */
export function checkRequest(desc: DescMessage, message: Message): void {
  const unknown = message.$unknown?.[0];
  if (unknown !== undefined) {
    throw invalidField(`#${unknown.no}`, `${desc.name} has no field number ${unknown.no}.`);
  }
  const violations = rulesOf(desc)(message);
  const amount = amountFault(desc, message);
  if (violations.length > 0 || amount !== undefined) throw toFailure(describeFaults(desc, message, violations, amount));
}

/**
 * The faults of the fields of a partly decoded request, reported beside those that could not be decoded. Rules across fields say nothing
 * about it.
 */
export function violationsOf(desc: DescMessage, message: Message): readonly FieldViolation[] {
  const perField = rulesOf(desc)(message).filter(({ field }) => field !== undefined);
  return describeFaults(desc, message, perField, undefined).flatMap(toViolation);
}

/** Compiles the rules of every request. @throws Error if the definition has one that is not known here */
export function warmValidation(services: readonly DescService[]): void {
  for (const { methods } of services) for (const { input } of methods) rulesOf(input);
}

/** What is wrong with a field; with the request as a whole if it has none. */
interface Fault {
  readonly field: string | undefined;
  readonly reason: string;
}

function describeFaults(
  desc: DescMessage,
  message: Message,
  violations: readonly Violation[],
  amount: AmountFault | undefined,
): readonly Fault[] {
  const faults = violations.map((violation) => ({
    number: violation.field?.number ?? 0,
    field: fieldOf(desc, violation),
    reason: ruleInWords(violation, message),
  }));
  // Rules across fields come first in the list, but mean little while a single field is wrong.
  const perField: (Fault & { readonly number: number })[] = faults.filter(({ number }) => number > 0);
  if (amount !== undefined && !perField.some(({ field }) => field === amount.field)) perField.push(amount);
  perField.sort((a, b) => a.number - b.number);
  return perField.length > 0 ? perField : faults;
}

const toViolation = ({ field, reason }: Fault): FieldViolation[] =>
  field === undefined ? [] : [{ field, message: ended(`${field} ${reason}`) }];

/** With a full stop, unless it ends with a question. */
const ended = (text: string): string => (text.endsWith("?") ? text : `${text}.`);

/** All faults in one message; `field` is the first, named as in REST. */
function toFailure(shown: readonly Fault[]): TradewireError {
  const message = shown
    .map(({ field, reason }) => (field === undefined ? reason : `${field} ${reason}`))
    .reduce((text, next) => (text === "" ? next : text.endsWith("?") ? `${text} ${next}` : `${text}; ${next}`), "");
  const field = shown[0]?.field;
  return new TradewireError(
    "VALIDATION_ERROR",
    ended(message),
    field === undefined ? {} : { field, violations: shown.flatMap(toViolation) },
  );
}

/** The path of a violation; for a rule across fields, the field its id begins with. */
function fieldOf(desc: DescMessage, { field, item, ruleId }: Violation): string | undefined {
  if (field !== undefined) return item === undefined ? field.jsonName : `${field.jsonName}[${item}]`;
  const name = ruleId.split(".", 1)[0];
  return desc.fields.find((known) => known.name === name)?.jsonName;
}

function ruleInWords({ ruleId, reason, field }: Violation, request: Message): string {
  if (ruleId === "string.pattern" && field?.name.endsWith("_raw")) {
    return "is not base units: a whole number above 0 as a decimal string, without leading zeros";
  }
  if (ruleId === "string.pattern" && field !== undefined) {
    const value = (request as Message & Record<string, unknown>)[field.localName];
    if (field.name === "mint" && value === "SOL") return "is SOL. Name the token to trade for SOL";
    const isSideOfSwap = /^(in|out)put_mint$/.test(field.name);
    const isSol = isSideOfSwap && typeof value === "string" && value.toUpperCase() === "SOL";
    return isSol ? 'is not a mint. Did you mean "SOL"?' : "is not written in base58, or has the wrong length";
  }
  if (field?.name === "slippage" && ruleId !== "required") return `${reason}: 0.05 is 5 %`;
  if (ruleId === "enum.defined_only") return "is not one of the defined values";
  if (ruleId === "enum.not_in") return "must not be unspecified";
  return reason.replace("item(s)", "items");
}
