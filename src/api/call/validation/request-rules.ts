import { type DescField, type DescMessage, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  field as fieldRules,
  message as messageRules,
  oneof as oneofRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { type Break, checkOf, type Matches } from "./field-rules.ts";
import { type AcrossRule, rulesAcrossFields } from "./rules-across-fields.ts";

/** A rule that a request breaks. */
export interface Violation extends Break {
  /** Undefined for a rule across fields. */
  readonly field: DescField | undefined;
}

/** What a request breaks, the rules across fields first; empty if it keeps every rule. */
export type RequestRules = (message: Message) => readonly Violation[];

interface FieldCheck {
  readonly field: DescField;
  readonly name: string;
  /** With presence: set if it is the message's own property. Otherwise: set unless it is zero. */
  readonly isOwn: boolean;
  readonly isRequired: boolean;
  readonly check: (value: unknown) => readonly Break[] | undefined;
}

const NONE: readonly Violation[] = [];
const MISSING: readonly Break[] = [{ ruleId: "required", reason: "is required" }];

/**
 * Compiles the rules of a request's definition. The library for them, which knows every rule there may be, takes a tenth of a start
 * to compile these few.
 *
 * @throws Error if the definition has a rule that is not known here
 */
export function compileRules(desc: DescMessage, matches: Matches): RequestRules {
  for (const oneof of desc.oneofs) if (hasOption(oneof, oneofRules)) throw unknownRule(oneof);
  const across = rulesAcrossFields(desc);
  const checks: FieldCheck[] = [];
  for (const field of desc.fields) {
    if (field.message !== undefined) refuseRulesWithin(field.message, new Set());
    if (!hasOption(field, fieldRules)) continue;
    const rules: FieldRules = getOption(field, fieldRules);
    if (field.fieldKind === "message" || field.fieldKind === "map" || field.oneof !== undefined)
      throw unknownRule(field);
    const isOwn = field.presence === FeatureSet_FieldPresence.EXPLICIT;
    const check = checkOf(rules, field, matches);
    checks.push({ field, name: field.localName, isOwn, isRequired: rules.required, check });
  }
  return (message) => violationsOf(message as Message & Readonly<Record<string, unknown>>, across, checks);
}

/** Runs on every call: indexed loops and no closure, which would allocate for each field. */
function violationsOf(
  values: Message & Readonly<Record<string, unknown>>,
  across: readonly AcrossRule[],
  checks: readonly FieldCheck[],
): readonly Violation[] {
  let found = NONE;
  for (let i = 0; i < across.length; i++) {
    const rule = across[i]!;
    if (!rule.keeps(values)) found = withBreaks(found, undefined, [rule.broken]);
  }
  for (let i = 0; i < checks.length; i++) {
    const one = checks[i]!;
    const broken = breaksOf(one, values);
    if (broken !== undefined) found = withBreaks(found, one.field, broken);
  }
  return found;
}

/** What a field breaks; undefined if it keeps its rules. */
function breaksOf(
  { name, isOwn, isRequired, check }: FieldCheck,
  values: Readonly<Record<string, unknown>>,
): readonly Break[] | undefined {
  const value = values[name];
  const isAbsent = isOwn ? value === undefined || !Object.hasOwn(values, name) : isRequired && isZero(value);
  if (isAbsent) return isRequired ? MISSING : undefined;
  return check(value);
}

const withBreaks = (
  found: readonly Violation[],
  field: DescField | undefined,
  broken: readonly Break[],
): readonly Violation[] => [...found, ...broken.map((one) => ({ field, ...one }))];

/** True for the value that a field has if it is not set: 0, false, an empty text, list or byte string. */
const isZero = (value: unknown): boolean => !value || (value as { readonly length?: number }).length === 0;

/** Nested messages of requests have no rules: nothing would check them. */
function refuseRulesWithin(desc: DescMessage, seen: Set<DescMessage>): void {
  if (seen.has(desc)) return;
  seen.add(desc);
  if (hasOption(desc, messageRules)) throw unknownRule(desc);
  for (const oneof of desc.oneofs) if (hasOption(oneof, oneofRules)) throw unknownRule(oneof);
  for (const field of desc.fields) {
    if (hasOption(field, fieldRules)) throw unknownRule(field);
    if (field.message !== undefined) refuseRulesWithin(field.message, seen);
  }
}

const unknownRule = (of: { toString(): string }): Error => new Error(`${of} has a rule that is not known here`);
