import { create, type DescMessage, type DescService, type Message } from "@bufbuild/protobuf";
import { createValidator, type Validator, type Violation } from "@bufbuild/protovalidate";
import { type FieldViolation, invalidField, TradewireError } from "../../../errors/tradewire-error.ts";
import { type AmountFault, amountFault } from "./amount-forms.ts";
import { compileEverydayRules } from "./everyday-rules.ts";
import { withUsedRules } from "./used-rules.ts";

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

/** For each request whose rules were compiled at start, a validator that knows those rules alone. */
const compiled = new WeakMap<DescMessage, Validator>();
/** Of those with simple rules, what is true of a message that keeps them all. */
const keepsRules = new WeakMap<DescMessage, (message: Message) => boolean>();
let uncompiled: Validator | undefined;

/** The validator of a request; for one that was not compiled at start, one that knows every rule. */
function validatorOf(desc: DescMessage): Validator {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  uncompiled ??= createValidator({ regexMatch: matches });
  return uncompiled;
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
  if (keepsRules.get(desc)?.(message) === true && amountFault(desc, message) === undefined) return;
  const result = validatorOf(desc).validate(desc, message);
  if (result.kind === "error") throw result.error;
  const amount = amountFault(desc, message);
  if (result.kind === "invalid" || amount !== undefined) {
    throw toFailure(describeFaults(desc, message, result.violations ?? [], amount));
  }
}

/**
 * What is wrong with the fields of a request that was decoded in part, for those that could not be decoded beside them. Rules
 * across fields say nothing about it.
 */
export function violationsOf(desc: DescMessage, message: Message): readonly FieldViolation[] {
  const { violations = [] } = validatorOf(desc).validate(desc, message);
  const perField = violations.filter((violation) => numberOf(violation) > 0);
  return describeFaults(desc, message, perField, undefined).flatMap(toViolation);
}

/** Compiles the rules of every request at start, once a process; the first request would otherwise wait some 30 ms. */
export function warmValidation(services: readonly DescService[]): void {
  const all = services.flatMap((service) => service.methods.map(({ input }) => input));
  const inputs = all.filter((input) => !compiled.has(input));
  if (inputs.length === 0) return;
  const validator = createValidator({ regexMatch: matches });
  withUsedRules(inputs, () => {
    for (const input of inputs) {
      validator.validate(input, create(input));
      compiled.set(input, validator);
      const keeps = compileEverydayRules(input, matches);
      if (keeps !== undefined) keepsRules.set(input, keeps);
    }
  });
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
    number: numberOf(violation),
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

/** The number of the request field that a violation is of; 0 for a rule across fields. */
function numberOf({ field: [first] }: Violation): number {
  return first?.kind === "field" ? first.number : 0;
}

/** The path of a violation; for a rule across fields, the field its id begins with. */
function fieldOf(desc: DescMessage, violation: Violation): string | undefined {
  if (violation.field.length === 0) {
    const name = violation.ruleId.split(".", 1)[0];
    return desc.fields.find((field) => field.name === name)?.jsonName;
  }
  let path = "";
  for (const step of violation.field) {
    if (step.kind === "field") path += path === "" ? step.jsonName : `.${step.jsonName}`;
    else if (step.kind === "list_sub") path += `[${step.index}]`;
  }
  return path;
}

function ruleInWords({ ruleId, message, field: [first] }: Violation, request: Message): string {
  if (ruleId === "required") return "is required";
  if (ruleId === "string.pattern" && first?.kind === "field" && first.name.endsWith("_raw")) {
    return "is not base units: a whole number above 0 as a decimal string, without leading zeros";
  }
  if (ruleId === "string.pattern") {
    const isSideOfSwap = first?.kind === "field" && /^(in|out)put_mint$/.test(first.name);
    const value = isSideOfSwap && (request as Message & Record<string, unknown>)[first.localName];
    const isSol = typeof value === "string" && value.toUpperCase() === "SOL";
    return isSol ? 'is not a mint. Did you mean "SOL"?' : "is not written in base58, or has the wrong length";
  }
  if (first?.kind === "field" && first.name === "slippage") return `${message.replace(/^value /, "")}: 0.05 is 5 %`;
  if (ruleId === "enum.defined_only") return "is not one of the defined values";
  if (ruleId === "enum.not_in") return "must not be unspecified";
  return message.replace(/^value /, "").replace("item(s)", "items");
}
