// One operation as a caller meets it: samples in every language, and a form that sends the same call to this server.

import { byId, copyOnClick, element, parseJson, readEvents, send, suspend } from "../shared/page.js";
import { wordsOf } from "../shared/sign-in.js";
import { tabList } from "../shared/tabs.js";
import { exampleBody, exampleParameters, messageOf, pathOf, rpcOf } from "./examples.js";
import { LANGUAGES } from "./samples.js";
import { signersOf, submitSigned } from "./throwaway.js";

const LONGEST_ANSWER = 20_000;

/** The samples of an operation, and the form that they follow. @param choice the language that all operations show */
export function tryIt({ path, verb, operation, needsKey, isStream }, { mint, resolve, choice }) {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const hasBody = requestBody !== undefined;
  const examples = exampleParameters(id, mint);
  const inputs = parameters.map(({ name }) => {
    const input = element("input", { type: "text", id: `${id}-${name}`, autocomplete: "off", spellcheck: "false" });
    input.value = examples[name] ?? "";
    return input;
  });
  const text = element("textarea", { id: `${id}-body`, rows: "8", spellcheck: "false" });
  text.value = JSON.stringify(exampleBody(id, mint), null, 2);
  const values = () => Object.fromEntries(parameters.map(({ name }, i) => [name, inputs[i].value.trim()]));
  const target = () => pathOf(path, parameters, values());
  const code = element("code");
  const panel = element("pre", { id: `${id}-sample`, tabindex: "0" }, code);
  const showSample = () => {
    const body = hasBody ? parseJson(text.value) : undefined;
    const isBroken = hasBody && (typeof body !== "object" || body === null);
    text.setAttribute("aria-invalid", `${isBroken}`);
    const { sample } = LANGUAGES.find((language) => language.id === choice.id);
    code.textContent = isBroken
      ? "The body is not valid JSON."
      : sample({
          ...{ verb, needsKey, isStream, body, rpc: rpcOf(operation) },
          url: location.origin + target(),
          message: messageOf(operation, { values: values(), body }, resolve),
        });
  };
  choice.onChange(showSample);
  const copy = element("button", { type: "button", class: "plain small" }, "Copy");
  copyOnClick(copy, code);
  const fields = [
    ...parameters.map(({ name }, i) => labelled(name, inputs[i])),
    ...(hasBody ? [labelled("Body", text)] : []),
  ];
  const form = sendForm(
    { id, verb, target, needsKey, isStream, body: () => (hasBody ? text.value : undefined) },
    fields,
  );
  form.addEventListener("input", showSample);
  showSample();
  const tabs = tabList(LANGUAGES, { choice, panel, label: `Language of the sample of ${id}` });
  const sample = element("div", { class: "sample" }, element("div", { class: "row" }, tabs, copy), panel);
  const sides = element("div", { class: "sides" }, sample, ...sampleAnswer(id, responses));
  return [sides, element("details", {}, element("summary", {}, "Try it"), form)];
}

/** What an operation answered when the reference was made; nothing for an empty body. */
function sampleAnswer(id, { 200: { content = {} } }) {
  const [example] = Object.values(content).map((one) => one.example);
  if (example === undefined) return [];
  const text = typeof example === "string" ? example.replace(/^data: (.*)$/gm, indentedData) : indentedJson(example);
  const label = element("span", { class: "tag", id: `${id}-answer` }, "Answer on a test chain, long texts cut");
  const panel = element(
    "pre",
    { tabindex: "0", role: "group", "aria-labelledby": label.id },
    element("code", {}, text.trim()),
  );
  return [element("div", { class: "sample answered" }, element("div", { class: "row" }, label), panel)];
}

const indentedJson = (value) => JSON.stringify(value, null, 2);
const indentedData = (_, json) => `data: ${indentedJson(JSON.parse(json))}`;

const labelled = (name, input) => element("div", { class: "field" }, element("label", { for: input.id }, name), input);

/** The form that sends a call and shows its answer. */
function sendForm(call, fields) {
  const button = element("button", { type: "submit" }, "Send");
  const outcome = element("p", { class: "quiet", role: "status" });
  const answer = element("pre", {
    class: "answer",
    hidden: true,
    tabindex: "0",
    role: "group",
    "aria-label": "Answer",
  });
  const next = element("p", { class: "row", hidden: true });
  const form = element("form", {}, ...fields, element("p", { class: "row" }, button), outcome, answer, next);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const apiKey = byId("api-key").value.trim();
    if (call.needsKey && apiKey === "") {
      outcome.textContent = "This call needs an API key. Enter it at the top of the page.";
      byId("api-key").focus();
      return;
    }
    next.hidden = true;
    if (call.isStream) {
      await showEvents(call.target(), apiKey, { button, outcome, answer });
      return;
    }
    const resume = suspend(button);
    const value = await showAnswer(call, apiKey, { outcome, answer });
    resume();
    offerSubmit(value?.data, { apiKey, outcome, answer, next });
  });
  return form;
}

/** Sends a call; shows its status, duration and answer. Returns the answer, if it is JSON. */
async function showAnswer({ verb, target, needsKey, body }, apiKey, { outcome, answer }) {
  outcome.textContent = "Sending";
  const startedMs = performance.now();
  try {
    const { status, text } = await send(verb, target(), {
      ...(needsKey ? { apiKey } : {}),
      ...(body() === undefined ? {} : { body: body() }),
    });
    outcome.textContent = `Status ${status} after ${Math.round(performance.now() - startedMs)} ms`;
    const value = parseJson(text);
    answer.hidden = text === "";
    answer.textContent = value === undefined ? text : JSON.stringify(value, null, 2);
    const { code, doc_url } = value?.error ?? {};
    if (doc_url !== undefined) outcome.append(" · ", element("a", { href: `#${code}` }, `What ${code} means`));
    return value;
  } catch (error) {
    outcome.textContent = error.message;
    answer.hidden = true;
    return undefined;
  }
}

const OPEN = "The trade may have landed all the same, or still land. Submit the same bytes again, which is safe.";

/** True unless the answer to a submit says how its trade ended. @param value undefined if none of the service came */
function isOpen({ data, error } = {}) {
  if (data !== undefined) return data.status === "pending" || data.status === "processed";
  return error === undefined || error.retryable || error.code === "INTERNAL_ERROR";
}

/** After a build: the next step in one click, with the throwaway wallet of this page or one of this browser. */
function offerSubmit(built, { apiKey, outcome, answer, next }) {
  if (built?.unsignedTransaction === undefined) return;
  const note = element("span", { class: "quiet" }, "These bytes are not verified first. The trade page does that.");
  const buttons = signersOf(apiKey).map(({ name, sign }) => {
    const button = element("button", { type: "button" }, `Sign with ${name} and submit`);
    let body;
    button.addEventListener("click", async () => {
      const resume = suspend(button);
      try {
        body ??= await submitSigned(built, sign);
        const submit = { verb: "POST", target: () => "/v1/tx/submit", needsKey: true, body: () => body };
        const value = await showAnswer(submit, apiKey, { outcome, answer });
        button.textContent = "Submit the same bytes again";
        next.replaceChildren(button);
        next.hidden = !isOpen(value);
        if (!next.hidden) outcome.append(" · ", OPEN);
      } catch (error) {
        outcome.textContent = wordsOf(error);
      }
      resume();
    });
    return button;
  });
  next.replaceChildren(...buttons, note);
  next.hidden = buttons.length === 0;
}

/** Shows the events of a stream as they come, until it ends or the button is pressed again. */
async function showEvents(path, apiKey, { button, outcome, answer }) {
  const stop = new AbortController();
  const words = button.textContent;
  const halt = (event) => {
    event.preventDefault();
    stop.abort();
  };
  button.textContent = "Stop";
  button.addEventListener("click", halt);
  answer.hidden = false;
  answer.textContent = "";
  outcome.textContent = "Streaming";
  let count = 0;
  try {
    for await (const { event, data } of readEvents(path, apiKey, stop.signal)) {
      count++;
      const shown = `event: ${event}\n${JSON.stringify(data, null, 2)}\n\n${answer.textContent}`;
      answer.textContent = shown.slice(0, LONGEST_ANSWER);
    }
    outcome.textContent = `The stream ended after ${count} events.`;
  } catch (error) {
    outcome.textContent = stop.signal.aborted ? `Stopped after ${count} events.` : error.message;
  }
  button.removeEventListener("click", halt);
  button.textContent = words;
}
