// What all pages share: elements, calls to this server, copying.

/** Longer than a submit takes to answer. */
const ANSWER_MS = 35_000;
const STATUS_MS = 5_000;

const UNREACHABLE = "The service cannot be reached. Check the connection and try again.";

/** Sends text and gives what came back, whatever it is. @throws Error in words when nothing did */
export async function send(method, path, { body, apiKey, timeoutMs = ANSWER_MS } = {}) {
  // The browser would refuse such a header, and not say why.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error("This is not an API key: one is api_ and 38 letters and digits. Copy it again, all of it.");
  }
  try {
    const response = await fetch(path, {
      method,
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (error.name === "TimeoutError") throw new Error("The service takes too long to answer. Try again.");
    throw new Error(UNREACHABLE);
  }
}

/** The value of a JSON text; undefined where it is not JSON, as what a proxy says in place of the service. */
export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A call whose answer is the envelope. @throws Error with the service's own words and code */
export async function call(method, path, { body, apiKey } = {}) {
  const { status, text } = await send(method, path, {
    apiKey,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = parseJson(text);
  if (answer?.success === true) return answer.data;
  const message = answer?.error?.message ?? `The service answered with status ${status}. Try again shortly.`;
  throw Object.assign(new Error(message), { code: answer?.error?.code });
}

/** What /status.json says now. @throws Error in words */
export async function fetchStatus() {
  const { status, text } = await send("GET", "/status.json", { timeoutMs: STATUS_MS });
  const answer = parseJson(text);
  if (status !== 200 || answer === undefined) throw new Error(UNREACHABLE);
  return answer;
}

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; text is always text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** The words of `curl` for a call to this server. */
export function curlFor(method, path, apiKey, body) {
  const lines = [`curl -s ${method === "GET" ? "" : `-X ${method} `}${location.origin}${path}`];
  // Double quotes, in which a shell puts the value of $API_KEY.
  if (apiKey !== undefined) lines.push(`  -H "Authorization: Bearer ${apiKey}"`);
  if (body !== undefined) {
    lines.push("  -H 'Content-Type: application/json'");
    lines.push(`  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n");
}

/** A small purchase of a token that trades here, for examples. */
export function exampleBuy(status) {
  const mint = status?.tokens[0]?.mint ?? "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
  return { mint, solAmount: 0.1, slippage: 0.05, priority: "fast" };
}

/**
 * Makes a button copy the text of an element, and say so. Where the browser does not let it (a page without TLS that is not
 * of this machine has no clipboard at all), the text is selected, to be copied by hand.
 */
export function copyOnClick(button, source) {
  const words = button.textContent;
  let timer;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const copied = await copy(source.textContent);
    if (!copied) getSelection().selectAllChildren(source);
    button.textContent = copied ? "Copied" : "Selected: copy it by hand";
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = words;
    }, 3000);
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  copyOnClick(button, byId(button.dataset.copy));
}

const HANDOVER = "tradewire-key";

/** Leaves a key for the next page of this tab, which takes it away. */
export function handOverKey(apiKey) {
  sessionStorage.setItem(HANDOVER, apiKey);
}

/** The key that the page before left, once; else nothing. */
export function takeKey() {
  const apiKey = sessionStorage.getItem(HANDOVER) ?? "";
  sessionStorage.removeItem(HANDOVER);
  return apiKey;
}
