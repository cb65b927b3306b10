import {
  byId,
  copyOnClick,
  curlFor,
  element,
  exampleBuy,
  fetchStatus,
  parseJson,
  readEvents,
  send,
  takeKey,
} from "../shared/page.js";

byId("api-key").value = takeKey();

/** The example request of an operation. */
function exampleBody(operationId, status) {
  const buy = exampleBuy(status);
  const swap = {
    inputMint: "SOL",
    outputMint: buy.mint,
    amount: 0.1,
    swapMode: "exactIn",
    slippage: 0.05,
    priority: "fast",
  };
  const bodies = {
    buy,
    sell: { mint: buy.mint, tokenAmount: 1, slippage: 0.05, priority: "fast" },
    swap,
    quote: swap,
    submit: { submissionToken: "from the build", signedTransaction: "signed transaction in base64" },
    createChallenge: { walletAddress: "wallet address" },
    register: { walletAddress: "wallet address", message: "the challenge", signature: "64 bytes in base58" },
  };
  return bodies[operationId] ?? {};
}

/** The example query of an operation. */
function exampleQuery(operationId, status) {
  const { mint } = exampleBuy(status);
  const queries = {
    watchQuote: { inputMint: "SOL", outputMint: mint, amount: "0.1", swapMode: "exactIn", slippage: "0.05" },
    getBalances: { mint },
    listTrades: { limit: "10" },
  };
  return queries[operationId] ?? {};
}

function start(document_, status) {
  const resolve = (schema) => {
    // A field that may be absent is either a schema or null.
    const either = schema?.anyOf?.find(({ type }) => type !== "null");
    if (either !== undefined) return resolve(either);
    const name = schema?.$ref?.split("/").at(-1);
    return name === undefined ? (schema ?? {}) : document_.components.schemas[name];
  };
  const groups = new Map();
  for (const [path, verbs] of Object.entries(document_.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const group = operation.tags?.[0] ?? "Connection";
      groups.set(group, [...(groups.get(group) ?? []), { path, verb: verb.toUpperCase(), operation }]);
    }
  }
  byId("contents").replaceChildren(
    ...[...groups].flatMap(([group, entries]) => [
      element("strong", {}, group),
      element(
        "ul",
        {},
        ...entries.map(({ operation }) =>
          element("li", {}, element("a", { href: `#${operation.operationId}` }, operation.operationId)),
        ),
      ),
    ]),
    element("ul", {}, element("li", {}, element("a", { href: "#errors" }, "Errors"))),
  );
  byId("operations").replaceChildren(
    ...[...groups].flatMap(([group, entries]) => [
      element("h2", {}, group),
      ...entries.map((entry) => describe(entry, status, resolve)),
    ]),
  );
  if (location.hash !== "") byId(location.hash.slice(1))?.scrollIntoView();
}

function describe({ path, verb, operation }, status, resolve) {
  const { operationId, description, parameters = [], requestBody, responses, security } = operation;
  const needsKey = (security?.length ?? 0) > 0;
  const input = requestBody?.content["application/json"].schema;
  const content = responses["200"].content;
  const events = content?.["text/event-stream"]?.schema;
  const output = events ?? content?.["application/json"]?.schema.properties.data;
  return element(
    "article",
    { class: "card operation", id: operationId, "aria-label": operationId },
    element(
      "h3",
      {},
      element("span", { class: `verb ${verb.toLowerCase()}` }, verb),
      element("code", {}, path),
      element("span", { class: "tag" }, needsKey ? "API key" : "no key"),
    ),
    element("p", {}, ...prose(description ?? "")),
    ...(parameters.length === 0 ? [] : [element("h4", {}, "Parameters"), parameterTable(parameters, resolve)]),
    ...(input === undefined ? [] : [element("h4", {}, "Request"), fieldTable(resolve(input), resolve, true)]),
    ...(output === undefined
      ? []
      : [
          element(
            "details",
            {},
            element("summary", {}, events === undefined ? "Response" : "Data of each event"),
            fieldTable(resolve(output), resolve, false),
          ),
        ]),
    tryIt({ path, verb, operation, needsKey, hasBody: input !== undefined, isStream: events !== undefined }, status),
  );
}

/** A row per parameter of the path and of the query. */
function parameterTable(parameters, resolve) {
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

/** Shows text between backticks as code. */
const prose = (words) => words.split("`").map((part, i) => (i % 2 === 1 ? element("code", {}, part) : part));

/** A row per field of a message. Fields of nested messages follow theirs, each with its path. */
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
    return [
      row,
      ...fieldRows(
        isList ? resolve(target.items) : target,
        resolve,
        isRequest,
        `${within}${name}${isList ? "[]." : "."}`,
      ),
    ];
  });
}

function fieldTable(schema, resolve, isRequest) {
  const rows = fieldRows(schema, resolve, isRequest);
  if (rows.length === 0) return element("p", { class: "quiet" }, "No fields.");
  return tableOf("Field", rows);
}

/** An editable example that can be sent to this server. */
function tryIt({ path, verb, operation, needsKey, hasBody, isStream }, status) {
  const id = operation.operationId;
  const names = (operation.parameters ?? []).map(({ name }) => name);
  const inputs = new Map(names.map((name) => [name, element("input", { type: "text", id: `${id}-${name}` })]));
  const text = element("textarea", { id: `${id}-body`, rows: "8", spellcheck: "false" });
  text.value = JSON.stringify(exampleBody(id, status), null, 2);
  const command = element("code");
  const copy = element("button", { type: "button", class: "plain small" }, "Copy");
  copyOnClick(copy, command);
  const button = element("button", { type: "submit" }, "Send");
  const outcome = element("p", { class: "quiet", role: "status" });
  const answer = element("pre", { class: "answer", hidden: true });
  const form = element(
    "form",
    {},
    ...names.flatMap((name) => [
      element("div", { class: "field" }, element("label", { for: `${id}-${name}` }, name), inputs.get(name)),
    ]),
    ...(hasBody ? [element("div", { class: "field" }, element("label", { for: `${id}-body` }, "Body"), text)] : []),
    element("pre", {}, command),
    element("p", { class: "row" }, button, copy),
    outcome,
    answer,
  );
  const queried = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const examples = exampleQuery(id, status);
  for (const { name } of queried) inputs.get(name).value = examples[name] ?? "";
  const target = () => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inputs.get(name)?.value ?? ""));
    const given = queried.map(({ name }) => [name, inputs.get(name).value.trim()]).filter(([, value]) => value !== "");
    return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`;
  };
  const showCommand = () => {
    const body = hasBody ? parseJson(text.value) : undefined;
    const isBroken = hasBody && body === undefined;
    text.setAttribute("aria-invalid", `${isBroken}`);
    command.textContent = isBroken
      ? "The body is not valid JSON."
      : curlFor(verb, target(), needsKey ? "$API_KEY" : undefined, body);
  };
  form.addEventListener("input", showCommand);
  showCommand();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const apiKey = byId("api-key").value.trim();
    if (needsKey && apiKey === "") {
      outcome.textContent = "This call needs an API key. Enter it at the top of the page.";
      byId("api-key").focus();
      return;
    }
    button.disabled = true;
    outcome.textContent = "Sending";
    const startedMs = performance.now();
    if (isStream) {
      await showEvents(target(), apiKey, button, outcome, answer);
      return;
    }
    try {
      const { status: code, text: raw } = await send(verb, target(), {
        ...(needsKey ? { apiKey } : {}),
        ...(hasBody ? { body: text.value } : {}),
      });
      outcome.textContent = `Status ${code} after ${Math.round(performance.now() - startedMs)} ms`;
      const value = parseJson(raw);
      answer.hidden = raw === "";
      answer.textContent = value === undefined ? raw : JSON.stringify(value, null, 2);
    } catch (error) {
      outcome.textContent = error.message;
      answer.hidden = true;
    }
    button.disabled = false;
  });
  return element("details", {}, element("summary", {}, "Try it"), form);
}

/** Shows the events of a stream as they come, until it ends or the button is pressed again. */
async function showEvents(path, apiKey, button, outcome, answer) {
  const stop = new AbortController();
  const words = button.textContent;
  const halt = (event) => {
    event.preventDefault();
    stop.abort();
  };
  button.textContent = "Stop";
  button.disabled = false;
  button.addEventListener("click", halt);
  answer.hidden = false;
  answer.textContent = "";
  outcome.textContent = "Streaming";
  let count = 0;
  try {
    for await (const { event, data } of readEvents(path, apiKey, stop.signal)) {
      count++;
      answer.textContent = `event: ${event}\n${JSON.stringify(data, null, 2)}\n\n${answer.textContent}`.slice(
        0,
        20_000,
      );
    }
    outcome.textContent = `The stream ended after ${count} events.`;
  } catch (error) {
    outcome.textContent = stop.signal.aborted ? `Stopped after ${count} events.` : error.message;
  }
  button.removeEventListener("click", halt);
  button.textContent = words;
}

try {
  const [{ text }, status] = await Promise.all([send("GET", "/v1/openapi.json"), fetchStatus().catch(() => undefined)]);
  start(JSON.parse(text), status);
} catch {
  byId("operations").replaceChildren();
  byId("failure").textContent = "The document could not be loaded. Reload the page to try again.";
}
