import { type DescField, type DescMessage, isFieldSet, type Message } from "@bufbuild/protobuf";

/** Ends the names of fields that give an amount in base units, beside the same name in whole units. */
const RAW = "_raw";
/** A share of the balance stands for either form. */
const SHARE = "sell_percent";

interface AmountForms {
  readonly whole: DescField;
  readonly raw: DescField;
  readonly share: DescField | undefined;
}

/** What is wrong with the forms of a request's amount: the field at fault, its number, and why. */
export interface AmountFault {
  readonly number: number;
  readonly field: string;
  readonly reason: string;
}

const formsOf = new WeakMap<DescMessage, AmountForms | "none">();

/**
 * Checks that a request gives its amount in exactly one form: whole units or base units. Undefined if it does, or has no
 * amount.
 */
export function amountFault(desc: DescMessage, message: Message): AmountFault | undefined {
  let forms = formsOf.get(desc);
  if (forms === undefined) {
    forms = amountForms(desc) ?? "none";
    formsOf.set(desc, forms);
  }
  if (forms === "none") return undefined;
  const { whole, raw, share } = forms;
  const hasWhole = isFieldSet(message, whole);
  if (isFieldSet(message, raw)) {
    if (!hasWhole) return undefined;
    return {
      number: raw.number,
      field: raw.jsonName,
      reason: `stands in place of ${whole.jsonName}: give one of them`,
    };
  }
  if (hasWhole || share !== undefined) return undefined;
  return { number: whole.number, field: whole.jsonName, reason: `is required, or ${raw.jsonName} in its place` };
}

/** The fields of a request that give its amount, each in place of the others; undefined if it has none. */
export function amountForms({ fields }: DescMessage): AmountForms | undefined {
  const named = (name: string) => fields.find((field) => field.name === name);
  for (const raw of fields) {
    if (!raw.name.endsWith(RAW)) continue;
    const whole = named(raw.name.slice(0, -RAW.length));
    if (whole !== undefined) return { whole, raw, share: named(SHARE) };
  }
  return undefined;
}
