import { curlFor } from "../shared/curl.js";
import { byId, element, exampleBuy, fetchStatus } from "../shared/page.js";
import { showFigures } from "./figures.js";
import { showVenues } from "./venues.js";

const POLL_MS = 2000;
/** While the chain has not answered yet which venues it has, this many times: a chain that is away is not asked after at such a rate. */
const SOON_MS = 300;
const MOST_SOON = 10;

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

const line = (name, words, kind) =>
  element("li", {}, element("span", {}, name), element("span", { class: `state ${kind}` }, words));

/** How quotes are checked on the deployed programs. */
function checksOf(shadow) {
  if (shadow === null) return "off";
  const { mode, state, checks, differences } = shadow;
  return `${mode}${state === "up" ? "" : ", starting"}: ${checks.toLocaleString("en")} checks, ${differences} differed`;
}

/** Changes the text only if it differs: screen readers announce every change. */
function say(words, kind) {
  const overall = byId("overall");
  if (overall.textContent === words) return;
  overall.className = `state ${kind}`;
  overall.textContent = words;
}

function show({ serving, network, chain, shadow, senders }) {
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
  byId("senders").replaceChildren(
    ...senders.map(({ name, state }) => line(name, state, state === "up" ? "good" : "bad")),
  );
}

let example = false;
let asked = 0;

async function poll() {
  let waitMs = POLL_MS;
  try {
    const status = await fetchStatus();
    show(status);
    showVenues(status);
    if (asked++ < MOST_SOON && status.venues.some(({ state }) => state === "unknown")) waitMs = SOON_MS;
    showFigures(status);
    if (!example)
      byId("first").textContent = curlFor("POST", `${location.origin}/v1/tx/buy`, "$API_KEY", exampleBuy(status));
    example = true;
  } catch {
    say(example ? "No response. Last known state:" : "No response", "bad");
  }
  setTimeout(poll, document.hidden ? 5 * POLL_MS : waitMs);
}

poll();
