import { curlFor } from "../shared/curl.js";
import { byId, element, exampleBuy, fetchStatus } from "../shared/page.js";
import { showFigures } from "./figures.js";

const POLL_MS = 2000;

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

const line = (name, words, kind) =>
  element("li", {}, element("span", {}, name), element("span", { class: `state ${kind}` }, words));

const STATES = {
  ready: ["ready", "good"],
  failing: ["search failed", "bad"],
  idle: ["not used yet", "quiet"],
  waiting: ["waiting", "bad"],
  absent: ["not deployed", "quiet"],
};

const ago = (ms) => (ms < 60_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`);

/** How quotes are checked on the deployed programs. */
function checksOf(shadow) {
  if (shadow === null) return "off";
  const { mode, state, checks, differences } = shadow;
  return `${mode}${state === "up" ? "" : ", starting"}: ${checks.toLocaleString("en")} checks, ${differences} differed`;
}

function venueLine({ id, state, markets, searchAgeMs, withheld, withheldReason }) {
  const [words, kind] =
    withheldReason !== null ? ["withheld", "bad"] : withheld > 0 ? [`${withheld} withheld`, "bad"] : STATES[state];
  const count = `${markets.toLocaleString("en")} ${markets === 1 ? "market" : "markets"} live`;
  const isSearched = searchAgeMs !== null && state !== "absent";
  const search = isSearched ? [element("small", {}, `${count}, searched ${ago(searchAgeMs)}`)] : [];
  return element("li", {}, element("span", {}, id, ...search), element("span", { class: `state ${kind}` }, words));
}

/** Changes the text only if it differs: screen readers announce every change. */
function say(words, kind) {
  const overall = byId("overall");
  if (overall.textContent === words) return;
  overall.className = `state ${kind}`;
  overall.textContent = words;
}

function show({ serving, network, chain, venues, shadow, senders }) {
  if (serving) say("Serving", "good");
  else say("Not serving: the chain's state is stale", "bad");
  byId("chain").replaceChildren(
    ...row("Network", network),
    ...row("Slot", chain.slot.toLocaleString("en")),
    ...row("Block height", chain.blockHeight.toLocaleString("en")),
    ...row("Slot time", `${Math.round(chain.slotMs)} ms`),
    ...row("Last slot seen", `${chain.slotAgeMs} ms ago`),
    ...row("Outcomes rest on", chain.witnesses > 1 ? `${chain.witnesses} nodes that agree` : "one node's word"),
    ...row("Quotes checked", checksOf(shadow)),
  );
  byId("venues").replaceChildren(...venues.map(venueLine));
  byId("senders").replaceChildren(
    ...senders.map(({ name, state }) => line(name, state, state === "up" ? "good" : "bad")),
  );
}

let example = false;

async function poll() {
  try {
    const status = await fetchStatus();
    show(status);
    showFigures(status);
    if (!example)
      byId("first").textContent = curlFor("POST", `${location.origin}/v1/tx/buy`, "$API_KEY", exampleBuy(status));
    example = true;
  } catch {
    say(example ? "No response. Last known state:" : "No response", "bad");
  }
  setTimeout(poll, document.hidden ? 5 * POLL_MS : POLL_MS);
}

poll();
