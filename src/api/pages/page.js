// What all pages share: elements, calls to this server, copying.

/** A call whose answer is the envelope. @throws Error with the service's own words and code */
export async function call(method, path, { body, apiKey } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Error("The service cannot be reached. Check the connection and try again.");
  }
  const answer = await response.json().catch(() => undefined);
  if (answer?.success === true) return answer.data;
  const message = answer?.error?.message ?? `The service answered with status ${response.status}.`;
  throw Object.assign(new Error(message), { code: answer?.error?.code });
}

/** What /status.json says now. */
export async function fetchStatus() {
  const response = await fetch("/status.json", { cache: "no-store" });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
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
  if (apiKey !== undefined) lines.push(`  -H 'Authorization: Bearer ${apiKey}'`);
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

/** Makes a button copy what `read` gives, and say so. */
export function copyOnClick(button, read) {
  const words = button.textContent;
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(read()).then(
      () => "Copied",
      () => "Select and copy by hand",
    );
    setTimeout(() => {
      button.textContent = words;
    }, 2000);
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  copyOnClick(button, () => byId(button.dataset.copy).textContent);
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
