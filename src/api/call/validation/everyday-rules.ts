import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  field as fieldRules,
  file_buf_validate_validate,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { rulesAcrossFields } from "./rules-across-fields.ts";

type Check = (value: unknown) => boolean;
/** The rules that are set, by name. */
type Rules = ReadonlyMap<string, unknown>;

interface FieldCheck {
  readonly name: string;
  /** Set if it is the message's own, and not only its prototype's; else unless it is zero. */
  readonly isOwn: boolean;
  readonly isRequired: boolean;
  readonly check: Check;
}

/**
 * Compiles the rules of a request that are simple, so that a correct one is recognised without the library, which reports what is
 * wrong with the others.
 *
 * @param matches tests a text against a pattern
 * @returns true only for messages that keep every rule; undefined if the request has rules of another kind
 */
export function compileEverydayRules(
  desc: DescMessage,
  matches: (pattern: string, text: string) => boolean,
): ((message: Message) => boolean) | undefined {
  const across = rulesAcrossFields(desc);
  if (across === undefined || desc.oneofs.length > 0) return undefined;
  const checks: FieldCheck[] = [];
  for (const field of desc.fields) {
    const check = checkOf(field, matches);
    if (check === undefined) return undefined;
    const isOwn = field.presence === FeatureSet_FieldPresence.EXPLICIT;
    checks.push({ name: field.localName, isOwn, isRequired: isRequired(field), check });
  }
  return (message) => {
    const values = message as Message & Readonly<Record<string, unknown>>;
    for (const { name, isOwn, isRequired, check } of checks) {
      if (isOwn && !Object.hasOwn(values, name)) {
        if (isRequired) return false;
      } else {
        const value = values[name];
        if (isRequired && (value === undefined || (!isOwn && isZero(value)))) return false;
        if (!check(value)) return false;
      }
    }
    for (const keeps of across) if (!keeps(values)) return false;
    return true;
  };
}

const ANYTHING: Check = () => true;

/** True for the value that a field has if it is not set: 0, false, an empty text, list or byte string. */
const isZero = (value: unknown): boolean => !value || (value as { readonly length?: number }).length === 0;

function isRequired(field: DescField): boolean {
  return hasOption(field, fieldRules) && getOption(field, fieldRules).required;
}

/** What the rules of a field ask of its value, if there is one; undefined for rules of another kind. */
function checkOf(field: DescField, matches: (pattern: string, text: string) => boolean): Check | undefined {
  if (field.fieldKind === "map" || field.message !== undefined) return undefined;
  if (!hasOption(field, fieldRules)) return ANYTHING;
  const { type } = getOption(field, fieldRules);
  const general = rulesOf(getOption(field, fieldRules));
  general.delete("required");
  if (type.case !== undefined) general.delete(type.case);
  if (general.size > 0) return undefined;
  return type.case === undefined ? ANYTHING : checkOfType(type.case, rulesOf(type.value), field, matches);
}

function checkOfType(
  kind: string,
  rules: Rules,
  { enum: values, fieldKind }: DescField,
  matches: (pattern: string, text: string) => boolean,
): Check | undefined {
  const names = [...rules.keys()];
  const onlyHas = (...known: readonly string[]) => names.every((name) => known.includes(name));
  if (kind === "string" && fieldKind === "scalar" && onlyHas("pattern")) {
    const pattern = rules.get("pattern") as string;
    return (value) => typeof value === "string" && matches(pattern, value);
  }
  if (kind === "string" && fieldKind === "scalar" && onlyHas("max_len")) {
    const most = rules.get("max_len") as bigint;
    // Characters are counted, of which there are no more than units.
    return (value) => typeof value === "string" && value.length <= most;
  }
  if (kind === "bytes" && fieldKind === "scalar" && onlyHas("max_len")) {
    const most = rules.get("max_len") as bigint;
    return (value) => value instanceof Uint8Array && value.length <= most;
  }
  if (kind === "enum" && fieldKind === "enum" && onlyHas("defined_only")) return definedIn(values as DescEnum);
  if (kind === "repeated" && fieldKind === "list" && onlyHas("max_items")) {
    const most = rules.get("max_items") as bigint;
    return (value) => Array.isArray(value) && value.length <= most;
  }
  const isNumber = (kind === "double" || kind === "uint32") && fieldKind === "scalar";
  return isNumber && onlyHas("gt", "gte", "lt", "lte", "finite") ? within(rules) : undefined;
}

function definedIn({ values }: DescEnum): Check {
  const numbers = new Set<unknown>(values.map(({ number }) => number));
  return (value) => numbers.has(value);
}

/** A finite number within bounds; undefined if the bounds exclude what lies between them. */
function within(rules: Rules): Check | undefined {
  const bound = (name: string, otherwise: number) => (rules.get(name) as number | undefined) ?? otherwise;
  const [gt, gte] = [bound("gt", Number.NEGATIVE_INFINITY), bound("gte", Number.NEGATIVE_INFINITY)];
  const [lt, lte] = [bound("lt", Number.POSITIVE_INFINITY), bound("lte", Number.POSITIVE_INFINITY)];
  if (Math.max(gt, gte) >= Math.min(lt, lte)) return undefined;
  return (value) =>
    typeof value === "number" && Number.isFinite(value) && value > gt && value >= gte && value < lt && value <= lte;
}

function rulesOf(rules: Message): Map<string, unknown> {
  const schema = file_buf_validate_validate.messages.find(({ typeName }) => typeName === rules.$typeName);
  if (schema === undefined) throw new Error(`${rules.$typeName} is not one of the standard rules`);
  const values = reflect(schema, rules);
  return new Map(
    schema.fields.flatMap((field) =>
      values.isSet(field) ? [[field.name, values.get(field) as unknown] as const] : [],
    ),
  );
}
