// Shared by all pages: elements, calls to this server, copying.

/** Longer than any submit takes. */
const RESPONSE_MS = 35_000;
const STATUS_MS = 5_000;
/** A stream without a byte for this long is cut: the service sends a line every 15 seconds. */
const SILENCE_MS = 40_000;

const LATE = "The service did not respond in time. Try again.";
const UNREACHABLE = "The service cannot be reached. Check the connection and try again.";

/** Sends a request and returns its status and text. @throws Error with a message for the user if there is no response */
export async function send(method, path, { body, apiKey, timeoutMs = RESPONSE_MS } = {}) {
  // The browser would refuse such a header without saying why.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error("This is not an API key. A key is api_ and 38 letters and digits. Copy the whole key.");
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
    learnTime(response);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (error.name === "TimeoutError") throw new Error(LATE);
    throw new Error(UNREACHABLE);
  }
}

let clockErrorMs = 0;

/** Takes the service's time from an answer, to the second. */
function learnTime(response) {
  const ms = Date.parse(response.headers.get("date") ?? "");
  // The header has whole seconds: it is half a second old on average.
  if (!Number.isNaN(ms)) clockErrorMs = ms + 500 - Date.now();
}

/** The service's time, whatever this machine's clock says. Epoch milliseconds, to about a second. */
export const serviceTimeMs = () => Date.now() + clockErrorMs;

/** What this machine's clock shows at a time of the service's. Epoch milliseconds, to about a second. */
export const ownTimeMs = (serviceMs) => serviceMs - clockErrorMs;

/** Resolves after this many milliseconds. */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Parses JSON; undefined if it is not JSON, such as the error page of a proxy. */
export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls the API and returns the data of the envelope. @throws Error with the message and code of the service */
export async function call(method, path, { body, apiKey } = {}) {
  const { status, text } = await send(method, path, {
    apiKey,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = parseJson(text);
  if (answer?.success === true) return answer.data;
  throw refusalOf(answer?.error, status);
}

/** The Error of a refusal. @param error that of the envelope; undefined if there is none, as from a proxy */
export function refusalOf(error, status) {
  const message = error?.message ?? `The service returned status ${status}. Try again shortly.`;
  const { code, retryable, safeToRebuild, details, doc_url: docUrl } = error ?? {};
  return Object.assign(new Error(message), { code, retryable, safeToRebuild, details, docUrl });
}

/**
 * Reads server-sent events until the stream ends: their names and parsed data.
 * @throws Error with the message and code of the service if it refuses the stream
 */
export async function* readEvents(path, apiKey, signal) {
  const silence = new Silence();
  const signals = signal === undefined ? [silence.signal] : [silence.signal, signal];
  let reader;
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(path, { cache: "no-store", headers, signal: AbortSignal.any(signals) });
    learnTime(response);
    if (response.status !== 200) throw refusalOf(parseJson(await response.text())?.error, response.status);
    reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.end();
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        const event = /^event: (\w+)\ndata: (.*)$/.exec(part);
        if (event !== null) yield { event: event[1], data: JSON.parse(event[2]) };
      }
    }
  } catch (error) {
    if (silence.signal.aborted) throw new Error(LATE);
    throw error instanceof TypeError ? new Error(UNREACHABLE) : error;
  } finally {
    silence.close();
    reader?.cancel().catch(() => {});
  }
}

/** Aborts its signal once nothing has come for too long. */
class Silence {
  #stop = new AbortController();
  #timer = this.#arm();

  get signal() {
    return this.#stop.signal;
  }

  #arm() {
    return setTimeout(() => this.#stop.abort(), SILENCE_MS);
  }

  /** Something came. */
  end() {
    this.close();
    this.#timer = this.#arm();
  }

  close() {
    clearTimeout(this.#timer);
  }
}

/** Fetches the live status. @throws Error with a message for the user */
export async function fetchStatus() {
  const { status, text } = await send("GET", "/status.json", { timeoutMs: STATUS_MS });
  const answer = parseJson(text);
  if (status !== 200 || answer === undefined) throw new Error(UNREACHABLE);
  return answer;
}

export const byId = (id) => document.getElementById(id);

/** A time by this machine's clock, as `2026-11-28 13:00:00`. */
export const localTime = (iso) => new Date(iso).toLocaleString("sv");

/** Creates an element with attributes and children. Strings become text, never markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** An error code, whose lines break between its words. */
export const codeWords = (code) => code.split(/(?<=_)/).flatMap((word) => [word, element("wbr")]);

/** Disables a button, and returns what enables it again: it gets back the focus that it loses meanwhile. */
export function suspend(button) {
  const isFocused = document.activeElement === button;
  button.disabled = true;
  return () => {
    button.disabled = false;
    if (isFocused && document.activeElement === document.body) button.focus({ preventScroll: true });
  };
}

/** Goes on at a section, its heading at the top of the window: of a long one, focus alone may show the end. */
export function goTo(section) {
  section.focus({ preventScroll: true });
  section.scrollIntoView();
}

/** A small buy of a token that this service trades, for examples. */
export function exampleBuy(status) {
  const mint = status?.tokens[0]?.mint ?? "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
  return { mint, solAmount: 0.1, slippage: 0.05, priority: "fast" };
}

/**
 * Makes a button copy the text of an element. If the browser refuses (there is no clipboard without TLS, except on
 * localhost), the text is selected for the user to copy.
 */
export function copyOnClick(button, source) {
  const words = button.textContent;
  let timer;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const copied = await copy(source.textContent);
    if (!copied) getSelection().selectAllChildren(source);
    button.textContent = copied ? "Copied" : "Selected. Press Ctrl+C to copy";
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

/** Stores a key for the next page of this tab, which removes it. */
export function handOverKey(apiKey) {
  try {
    sessionStorage.setItem(HANDOVER, apiKey);
  } catch {
    // A browser that stores nothing: the next page asks for the key.
  }
}

/** The key that the previous page stored, once; otherwise empty. */
export function takeKey() {
  try {
    const apiKey = sessionStorage.getItem(HANDOVER) ?? "";
    sessionStorage.removeItem(HANDOVER);
    return apiKey;
  } catch {
    return "";
  }
}
