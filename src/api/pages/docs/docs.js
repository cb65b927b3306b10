// The reference: every operation of the OpenAPI document, with samples, a form to send it, and a search over all.

import { byId, element, exampleBuy, fetchStatus, send, takeKey } from "../shared/page.js";
import { Choice } from "../shared/tabs.js";
import { resolver } from "./examples.js";
import { fieldTable, parameterTable, prose } from "./fields.js";
import { startSearch } from "./search.js";
import { offerThrowaway } from "./throwaway.js";
import { tryIt } from "./try-it.js";

byId("api-key").value = takeKey();

const choice = new Choice("curl");

/** What the groups of operations are about. */
const GROUPS = { TradeService: "Trading", AccountService: "Accounts" };

function start(document_, status) {
  const resolve = resolver(document_);
  const groups = new Map();
  for (const [path, verbs] of Object.entries(document_.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const tag = operation.tags?.[0] ?? "Connection";
      const group = GROUPS[tag] ?? tag;
      groups.set(group, [...(groups.get(group) ?? []), { path, verb: verb.toUpperCase(), operation }]);
    }
  }
  const guides = [...document.querySelectorAll("article.guide")].map(({ id }) => id);
  const link = (id, words) => element("li", {}, element("a", { href: `#${id}` }, words));
  byId("contents").replaceChildren(
    ...[...groups].flatMap(([group, entries]) => [
      element("strong", {}, group),
      element("ul", {}, ...entries.map(({ operation }) => link(operation.operationId, operation.summary))),
    ]),
    element("strong", {}, "About"),
    element(
      "ul",
      {},
      ...guides.map((id) => link(id, byId(id).querySelector("h3").textContent)),
      link("errors", "Errors"),
    ),
  );
  const mint = exampleBuy(status).mint;
  byId("operations").replaceChildren(
    ...[...groups].flatMap(([group, entries]) => [
      element("h2", {}, group),
      ...entries.map((entry) => describe(entry, { mint, resolve, choice })),
    ]),
  );
  startSearch();
  offerThrowaway(status, (apiKey) => {
    byId("api-key").value = apiKey;
  });
  if (location.hash !== "") byId(location.hash.slice(1))?.scrollIntoView();
}

function describe({ path, verb, operation }, context) {
  const { resolve } = context;
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  const needsKey = (security?.length ?? 0) > 0;
  const input = requestBody?.content["application/json"].schema;
  const content = responses["200"].content;
  const events = content?.["text/event-stream"]?.schema;
  const output = events ?? content?.["application/json"]?.schema.properties.data;
  return element(
    "article",
    { class: "card operation", id: operationId, "aria-label": summary },
    element(
      "h3",
      {},
      summary,
      element("span", { class: "tag" }, [needsKey ? "API key" : "no key", ...(events ? ["stream"] : [])].join(", ")),
    ),
    element(
      "p",
      { class: "path" },
      element("span", { class: `verb ${verb.toLowerCase()}` }, verb),
      element("code", {}, path),
    ),
    element("p", {}, ...prose(description ?? "")),
    ...tryIt({ path, verb, operation, needsKey, isStream: events !== undefined }, context),
    ...(parameters.length === 0 ? [] : [element("h4", {}, "Parameters"), parameterTable(parameters, resolve)]),
    ...(input === undefined ? [] : [element("h4", {}, "Request"), fieldTable(resolve(input), resolve, true)]),
    ...(output === undefined ? [] : [answerOf(output, events !== undefined, resolve)]),
    element("p", { class: "type quiet" }, ...errorsOf(responses)),
  );
}

const answerOf = (schema, isStream, resolve) =>
  element(
    "details",
    {},
    element("summary", {}, isStream ? "Data of each event" : "Response"),
    fieldTable(resolve(schema), resolve, false),
  );

/** Links to the codes that an operation answers with. */
function errorsOf(responses) {
  const codes = Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .flatMap(([, { description }]) => description.match(/[A-Z]+(?:_[A-Z]+)+|OVERLOADED/g) ?? []);
  if (codes.length === 0) return [];
  const links = [...new Set(codes)].map((code) => element("a", { href: `#${code}` }, code));
  return ["Errors: ", ...links.flatMap((link, i) => (i === 0 ? [link] : [", ", link]))];
}

try {
  const [{ text }, status] = await Promise.all([send("GET", "/v1/openapi.json"), fetchStatus().catch(() => undefined)]);
  start(JSON.parse(text), status);
} catch {
  byId("operations").replaceChildren();
  byId("failure").textContent = "The document could not be loaded. Reload the page to try again.";
}
