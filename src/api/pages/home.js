import { byId, curlFor, element, exampleBuy, fetchStatus } from "./page.js";

const POLL_MS = 2000;

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

const line = (name, words, kind) =>
  element("li", {}, element("span", {}, name), element("span", { class: `state ${kind}` }, words));

const STATES = {
  ready: ["ready", "good"],
  failing: ["search failed", "bad"],
  idle: ["not asked for yet", "quiet"],
  waiting: ["waiting", "bad"],
};

const ago = (ms) => (ms < 60_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`);

function venueLine({ id, state, markets, searchAgeMs }) {
  const [words, kind] = STATES[state];
  const count = `${markets.toLocaleString("en")} ${markets === 1 ? "market" : "markets"} live`;
  const search = searchAgeMs === null ? [] : [element("small", {}, `${count}, searched ${ago(searchAgeMs)}`)];
  return element("li", {}, element("span", {}, id, ...search), element("span", { class: `state ${kind}` }, words));
}

function show({ serving, network, chain, venues, lanes }) {
  const overall = byId("overall");
  overall.className = `state ${serving ? "good" : "bad"}`;
  overall.textContent = serving ? "Serving" : "Not serving: the chain's state is old";
  byId("chain").replaceChildren(
    ...row("Network", network),
    ...row("Slot", chain.slot.toLocaleString("en")),
    ...row("Block height", chain.blockHeight.toLocaleString("en")),
    ...row("Time of a slot", `${Math.round(chain.slotMs)} ms`),
    ...row("Last slot seen", `${chain.slotAgeMs} ms ago`),
  );
  byId("venues").replaceChildren(...venues.map(venueLine));
  byId("lanes").replaceChildren(...lanes.map(({ name, state }) => line(name, state, state === "up" ? "good" : "bad")));
}

let example = false;

async function poll() {
  try {
    const status = await fetchStatus();
    show(status);
    if (!example) byId("first").textContent = curlFor("POST", "/v1/tx/buy", "$API_KEY", exampleBuy(status));
    example = true;
  } catch {
    const overall = byId("overall");
    overall.className = "state bad";
    overall.textContent = "No answer";
  }
  setTimeout(poll, document.hidden ? 5 * POLL_MS : POLL_MS);
}

poll();
