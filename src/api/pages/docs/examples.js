// What the reference fills in: an example of each operation, as REST and as the typed wires have it. Nothing here touches the page.

/** The example request body of an operation; `{}` if it has none of its own. @param mint a token that this service trades */
export function exampleBody(operationId, mint) {
  const swap = {
    inputMint: "SOL",
    outputMint: mint,
    amount: 0.1,
    swapMode: "exactIn",
    slippage: 0.05,
    priority: "fast",
  };
  const bodies = {
    buy: { mint, solAmount: 0.1, slippage: 0.05, priority: "fast" },
    sell: { mint, tokenAmount: 1, slippage: 0.05, priority: "fast" },
    swap,
    quote: swap,
    submit: { submissionToken: "from the build", signedTransaction: "signed transaction in base64" },
    createChallenge: { walletAddress: "wallet address" },
    register: { walletAddress: "wallet address", message: "the challenge", signature: "64 bytes in base58" },
  };
  return bodies[operationId] ?? {};
}

/** The example parameters of an operation, as text. */
export function exampleParameters(operationId, mint) {
  const parameters = {
    watchQuote: { inputMint: "SOL", outputMint: mint, amount: "0.1", swapMode: "exactIn", slippage: "0.05" },
    getBalances: { mint },
    listTrades: { limit: "10" },
  };
  return parameters[operationId] ?? {};
}

/** The path of an operation with its parameters filled in; what is empty in the query is left out. @param values text by name */
export function pathOf(path, parameters, values) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "") || `{${name}}`);
  const given = parameters
    .filter(({ name, in: place }) => place === "query" && (values[name] ?? "") !== "")
    .flatMap(({ name, schema }) => partsOf(values[name], schema).map((value) => [name, value]));
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`;
}

/** A list is typed with commas and sent by repetition. */
const partsOf = (text, schema) => (schema.type === "array" ? text.split(",").map((part) => part.trim()) : [text]);

/** The full name of an operation's method on the typed wires. Ping has none: health is the nearest. */
export function rpcOf({ operationId, tags }) {
  if (tags === undefined) return "grpc.health.v1.Health/Check";
  return `tradewire.v1.${tags[0]}/${operationId[0].toUpperCase()}${operationId.slice(1)}`;
}

/**
 * The same request in the JSON of Protocol Buffers: one message with every field, enums by their full names. What is to be filled in
 * stands there as in the path. @param resolve follows `$ref`
 */
export function messageOf({ parameters = [], requestBody }, { values, body }, resolve) {
  const message = {};
  for (const { name, in: place, schema } of parameters) {
    const text = values[name] ?? "";
    if (text !== "") message[name] = typedValue(text, schema, resolve);
    else if (place === "path") message[name] = `{${name}}`;
  }
  const properties = resolve(requestBody?.content["application/json"].schema).properties ?? {};
  for (const [name, value] of Object.entries(body ?? {})) message[name] = asProto(value, properties[name], resolve);
  return message;
}

function typedValue(text, schema, resolve) {
  if (schema.type === "array") return partsOf(text, schema).map((part) => typedValue(part, schema.items, resolve));
  if (schema.type === "integer" || schema.type === "number") return Number(text);
  if (schema.type === "boolean") return text === "true";
  return asProto(text, schema, resolve);
}

/** A value of an enum gets the prefix of its type: `exactIn` of SwapMode is `SWAP_MODE_EXACT_IN`. */
function asProto(value, schema, resolve) {
  if (schema === undefined || typeof value !== "string" || resolve(schema).enum === undefined) return value;
  const reference = (schema.anyOf?.find(({ $ref }) => $ref !== undefined) ?? schema).$ref;
  if (reference === undefined) return value;
  return `${upperSnake(reference.split("/").at(-1))}_${upperSnake(value)}`;
}

const upperSnake = (name) => name.replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();

/** Follows references of an OpenAPI document; a field that may be absent is either a schema or null. */
export function resolver(document) {
  const resolve = (schema) => {
    const either = schema?.anyOf?.find(({ type }) => type !== "null");
    if (either !== undefined) return resolve(either);
    const name = schema?.$ref?.split("/").at(-1);
    return name === undefined ? (schema ?? {}) : document.components.schemas[name];
  };
  return resolve;
}
