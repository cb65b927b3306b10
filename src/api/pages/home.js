import { byId, curlFor, element, exampleBuy, fetchStatus } from "./page.js";

const POLL_MS = 2000;

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

const line = (name, words, kind) =>
  element("li", {}, element("span", {}, name), element("span", { class: `state ${kind}` }, words));

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
  byId("venues").replaceChildren(...venues.map(({ id, state }) => line(id, state, state === "ready" ? "good" : "bad")));
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
