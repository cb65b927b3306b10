import type { DescField, Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type FieldRules, file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** A rule that a value breaks. */
export interface Break {
  /** The library's name of the rule: `double.gt_lte`. */
  readonly ruleId: string;
  /** What the value must be, as a phrase that follows the field's name: "must be greater than 0". */
  readonly reason: string;
  /** The place in the list; undefined if the whole value is meant. */
  readonly item?: number;
}

/** Tests a text against a pattern. */
export type Matches = (pattern: string, text: string) => boolean;

/** The rule that a value breaks; undefined if it keeps all. */
type Check = (value: unknown) => readonly Break[] | undefined;

/** The rules that are set, by name. */
type Rules = ReadonlyMap<string, unknown>;

/**
 * Compiles the rules of a field, except the one that it is required.
 *
 * @throws Error if there is one that is not known here
 */
export function checkOf(rules: FieldRules, field: DescField, matches: Matches): Check {
  const general = setIn(rules);
  general.delete("required");
  const { type } = rules;
  if (type.case !== undefined) general.delete(type.case);
  const check = type.case === undefined ? KEPT : checkOfKind(type.case, setIn(type.value), field, matches);
  if (general.size > 0 || check === undefined) throw new Error(`${field} has a rule that is not known here`);
  return check;
}

const KEPT: Check = () => undefined;

function checkOfKind(kind: string, rules: Rules, field: DescField, matches: Matches): Check | undefined {
  const hasOnly = (...known: readonly string[]) => [...rules.keys()].every((name) => known.includes(name));
  if (kind === "string" && hasOnly("pattern")) {
    const pattern = rules.get("pattern") as string;
    const broken = [{ ruleId: "string.pattern", reason: `does not match regex pattern \`${pattern}\`` }];
    return (value) => (matches(pattern, value as string) ? undefined : broken);
  }
  if (kind === "string" && hasOnly("max_len")) {
    const most = rules.get("max_len") as bigint;
    const broken = [{ ruleId: "string.max_len", reason: `must be at most ${most} characters` }];
    // The rule counts characters; a text never has more characters than UTF-16 units.
    return (value) => ((value as string).length <= most || [...(value as string)].length <= most ? undefined : broken);
  }
  if (kind === "bytes" && hasOnly("max_len")) {
    const most = rules.get("max_len") as bigint;
    const broken = [{ ruleId: "bytes.max_len", reason: `must be at most ${most} bytes` }];
    return (value) => ((value as Uint8Array).length <= most ? undefined : broken);
  }
  if (kind === "enum" && hasOnly("defined_only", "not_in")) return checkOfEnum(rules, field);
  if (kind === "repeated" && hasOnly("max_items", "items")) return checkOfList(rules, field, matches);
  if (kind === "double" && hasOnly("gt", "gte", "lt", "lte", "finite")) return checkOfNumber(kind, rules);
  if (kind === "uint32" && hasOnly("gt", "gte", "lt", "lte")) return checkOfNumber(kind, rules);
  return undefined;
}

function checkOfEnum(rules: Rules, field: DescField): Check {
  const defined = new Set<unknown>(field.enum!.values.map(({ number }) => number));
  const isClosed = rules.has("defined_only");
  const excluded = [...((rules.get("not_in") ?? []) as Iterable<unknown>)];
  const undefinedValue = [{ ruleId: "enum.defined_only", reason: "must be one of the defined enum values" }];
  const excludedValue = [{ ruleId: "enum.not_in", reason: `must not be in list [${excluded.join(", ")}]` }];
  return (value) => {
    if (isClosed && !defined.has(value)) return undefinedValue;
    return excluded.includes(value) ? excludedValue : undefined;
  };
}

function checkOfList(rules: Rules, field: DescField, matches: Matches): Check {
  const most = (rules.get("max_items") as bigint | undefined) ?? Number.POSITIVE_INFINITY;
  const tooMany = { ruleId: "repeated.max_items", reason: `must contain no more than ${most} item(s)` };
  const items = rules.get("items") as { readonly message: FieldRules } | undefined;
  const checkItem = items === undefined ? KEPT : checkOf(items.message, field, matches);
  return (value) => {
    const list = value as readonly unknown[];
    let found: Break[] | undefined;
    if (list.length > most) found = [tooMany];
    if (checkItem === KEPT) return found;
    for (let item = 0; item < list.length; item++) {
      for (const one of checkItem(list[item]) ?? []) found = [...(found ?? []), { ...one, item }];
    }
    return found;
  };
}

/** Bounds of a number; undefined if they exclude what lies between them. */
function checkOfNumber(kind: string, rules: Rules): Check | undefined {
  const [gt, gte, lt, lte] = Object.keys(BOUNDS).map((name) => rules.get(name) as number | undefined);
  if ((gt ?? gte ?? Number.NEGATIVE_INFINITY) >= (lt ?? lte ?? Number.POSITIVE_INFINITY)) return undefined;
  const bounds = Object.entries(BOUNDS).filter(([name]) => rules.has(name));
  const outside = {
    ruleId: `${kind}.${bounds.map(([name]) => name).join("_")}`,
    reason: `must be ${bounds.map(([name, words]) => `${words} ${rules.get(name)}`).join(" and ")}`,
  };
  const mayBeInfinite = !rules.has("finite");
  const infinite = { ruleId: `${kind}.finite`, reason: "must be finite" };
  return (value) => {
    const number = value as number;
    // Comparisons with NaN are false, so NaN is outside any bounds.
    const isWithin =
      (gt === undefined || number > gt) &&
      (gte === undefined || number >= gte) &&
      (lt === undefined || number < lt) &&
      (lte === undefined || number <= lte);
    if (mayBeInfinite || Number.isFinite(number)) return isWithin ? undefined : [outside];
    return isWithin ? [infinite] : [outside, infinite];
  };
}

const BOUNDS = {
  gt: "greater than",
  gte: "greater than or equal to",
  lt: "less than",
  lte: "less than or equal to",
} as const;

/** @throws Error if a rule is set that the standard ones do not include */
function setIn(rules: Message): Map<string, unknown> {
  const schema = file_buf_validate_validate.messages.find(({ typeName }) => typeName === rules.$typeName);
  if (schema === undefined || rules.$unknown !== undefined)
    throw new Error(`${rules.$typeName} has a rule that is not known here`);
  const values = reflect(schema, rules);
  const set = schema.fields.filter((field) => values.isSet(field));
  return new Map(set.map((field) => [field.name, values.get(field) as unknown]));
}
