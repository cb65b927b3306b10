import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { invalidField } from "../../errors/tradewire-error.ts";
import { refuseQuery } from "../http/parse-json.ts";
import type { RestBinding } from "./rest-binding.ts";

/** The fields of a query string as the JSON that a body would hold. */
type QueryReader = (query: object) => Readonly<Record<string, unknown>>;

/**
 * Reads the query string of a method without a body: every request field that is not in its path, lists by repetition.
 * The JSON decoder checks the values.
 *
 * @throws Error if a field has no form in a query string
 */
export function createQueryReader(desc: DescMessage, { variables, hasBody }: RestBinding): QueryReader {
  const inQuery = hasBody ? [] : desc.fields.filter(({ name }) => !variables.includes(name));
  const fields = new Map(inQuery.map((field) => [field.jsonName, createValueReader(field)]));
  return (query) => {
    // Without a prototype, which a field of that name would set.
    const json: Record<string, unknown> = Object.create(null);
    for (const [name, value] of Object.entries(query)) {
      const read = fields.get(name);
      if (read === undefined && desc.fields.some(({ jsonName }) => jsonName === name)) refuseQuery({ [name]: value });
      // The JSON decoder refuses an unknown field by its name.
      json[name] = read === undefined ? value : read(value as string | readonly string[], name);
    }
    return json;
  };
}

type ValueReader = (value: string | readonly string[], name: string) => unknown;

function createValueReader(field: DescField): ValueReader {
  if (field.fieldKind === "list" && field.listKind !== "message") {
    return (value) => (Array.isArray(value) ? value : [value]);
  }
  const parse =
    field.fieldKind === "enum" ? asText : field.fieldKind === "scalar" ? PARSERS.get(field.scalar) : undefined;
  if (parse === undefined) throw new Error(`no form in a query string is supported for ${field.toString()}`);
  return (value, name) => {
    if (typeof value !== "string") throw invalidField(name, `${name} is given twice. Give it once.`);
    return parse(value);
  };
}

const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const asText = (text: string): unknown => text;
const asNumber = (text: string): unknown => (DECIMAL.test(text) ? Number(text) : text);
const asBool = (text: string): unknown => (text === "true" ? true : text === "false" ? false : text);

/** What a text stands for; a text that stands for nothing stays one, and is refused as of the wrong type. */
const PARSERS: ReadonlyMap<ScalarType, (text: string) => unknown> = new Map([
  [ScalarType.STRING, asText],
  [ScalarType.DOUBLE, asNumber],
  [ScalarType.UINT32, asNumber],
  [ScalarType.BOOL, asBool],
]);
