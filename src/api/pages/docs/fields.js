// Tables of parameters and fields, from the schemas of the OpenAPI document.

import { element } from "../shared/page.js";

/** Shows text between backticks as code. */
export const prose = (words) => words.split("`").map((part, i) => (i % 2 === 1 ? element("code", {}, part) : part));

/** A row per parameter of the path and of the query. */
export function parameterTable(parameters, resolve) {
  const rows = parameters.map(({ name, in: place, schema, description: about }) =>
    element(
      "tr",
      {},
      element(
        "td",
        {},
        element("code", {}, name),
        element("span", { class: "type" }, `in the ${place}, ${typeOf(schema, resolve)}${boundsOf(schema)}`),
      ),
      element("td", {}, ...prose(about ?? "")),
    ),
  );
  return tableOf("Parameter", rows);
}

/** A row per field of a message. */
export function fieldTable(schema, resolve, isRequest) {
  const rows = fieldRows(schema, resolve, isRequest);
  if (rows.length === 0) return element("p", { class: "quiet" }, "No fields.");
  return tableOf("Field", rows);
}

function tableOf(title, rows) {
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "fields" },
      element(
        "thead",
        {},
        element("tr", {}, element("th", { scope: "col" }, title), element("th", { scope: "col" }, "Meaning")),
      ),
      element("tbody", {}, ...rows),
    ),
  );
}

function typeOf(schema, resolve) {
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, resolve)).join(" or ");
  const target = resolve(schema);
  if (target.const !== undefined) return JSON.stringify(target.const);
  if (target.type === "array") return `list of ${typeOf(target.items, resolve)}`;
  if (target.enum !== undefined) return target.enum.join(" | ");
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1);
  return [target.type].flat().join(" or ") + (target.format === undefined ? "" : `, ${target.format}`);
}

function boundsOf(schema) {
  const words = [];
  if (schema.exclusiveMinimum !== undefined) words.push(`above ${schema.exclusiveMinimum}`);
  if (schema.minimum !== undefined) words.push(`from ${schema.minimum}`);
  if (schema.exclusiveMaximum !== undefined) words.push(`below ${schema.exclusiveMaximum}`);
  if (schema.maximum !== undefined) words.push(`up to ${schema.maximum}`);
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

/** Fields of nested messages follow theirs, each with its path. */
function fieldRows(schema, resolve, isRequest, within = "") {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const target = resolve(property);
    const isList = target.type === "array";
    const row = element(
      "tr",
      {},
      element(
        "td",
        {},
        element("code", {}, ...(within === "" ? [] : [within, element("wbr")]), name),
        element("span", { class: "type" }, `${typeOf(property, resolve)}${boundsOf(property)}`),
      ),
      element(
        "td",
        {},
        ...prose(property.description ?? target.description ?? ""),
        ...(isRequest && !required.has(name) ? [element("span", { class: "type" }, "optional")] : []),
      ),
    );
    const inner = isList ? resolve(target.items) : target;
    return [row, ...fieldRows(inner, resolve, isRequest, `${within}${name}${isList ? "[]." : "."}`)];
  });
}
