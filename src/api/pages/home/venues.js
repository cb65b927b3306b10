// The venues on the home page: their markets now, and their counts of the last minutes.

import { byId, element } from "../shared/page.js";

const STATES = {
  ready: ["ready", "good"],
  failing: ["search failed", "bad"],
  idle: ["not used yet", "quiet"],
  waiting: ["waiting", "bad"],
  absent: ["not deployed", "quiet"],
  unknown: ["asking the chain", "quiet"],
};

/** How a failure is named, the gravest first. */
const FAILURES = {
  failed: "failed on chain",
  slippage: "failed as the price moved",
  withheld: "withheld",
  refused: "refused",
};

const NONE = "none";
const NOTHING = { quotes: 0, builds: 0, landed: 0, failed: 0, slippage: 0, withheld: 0, refused: 0 };

const number = (count) => count.toLocaleString("en");
const ago = (ms) => (ms < 60_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`);

/** Shows the venues, those without a program on the chain last; without figures of the last minutes if the operator keeps them private. */
export function showVenues({ venues, recent }) {
  const byVenue = recent === null ? undefined : new Map(recent.venues.map((figures) => [figures.id, figures]));
  byId("venues-figures").hidden = recent === null;
  for (const heading of document.querySelectorAll("#venues-table th[data-recent]")) heading.hidden = recent === null;
  if (recent !== null)
    byId("venues-minutes").textContent = recent.minutes === 1 ? "minute" : `${recent.minutes} minutes`;
  const isAbsent = ({ state }) => state === "absent";
  const shown = [...venues.filter((venue) => !isAbsent(venue)), ...venues.filter(isAbsent)];
  byId("venues").replaceChildren(...shown.map((venue) => venueRow(venue, byVenue)));
}

function venueRow({ id, state, markets, searchAgeMs, withheld, withheldReason }, byVenue) {
  const [words, kind] =
    withheldReason !== null ? ["withheld", "bad"] : withheld > 0 ? [`${withheld} withheld`, "bad"] : STATES[state];
  const isSearched = searchAgeMs !== null && state !== "absent";
  const search = isSearched ? [element("small", {}, `searched ${ago(searchAgeMs)}`)] : [];
  const cell = (label, ...content) =>
    element("td", { "data-label": label, "data-zero": content[0] === "0" || content[0] === NONE }, ...content);
  return element(
    "tr",
    { class: state === "absent" ? "absent" : undefined },
    element("th", { scope: "row" }, id, ...search),
    element("td", {}, element("span", { class: `state ${kind}` }, words)),
    cell("live markets", isSearched ? number(markets) : "–"),
    ...(byVenue === undefined ? [] : figureCells(cell, state === "absent" ? undefined : (byVenue.get(id) ?? NOTHING))),
  );
}

function figureCells(cell, figures) {
  const shown = (count) => (figures === undefined ? "–" : number(count));
  return [
    cell("quotes", shown(figures?.quotes)),
    cell("builds", shown(figures?.builds)),
    cell("landed", shown(figures?.landed)),
    cell("failures", ...(figures === undefined ? ["–"] : failuresOf(figures))),
  ];
}

/** Each kind of failure that there was, on a line of its own. */
function failuresOf(figures) {
  const lines = Object.entries(FAILURES)
    .filter(([kind]) => figures[kind] > 0)
    .map(([kind, words]) => element("span", { class: `failure ${kind}` }, `${number(figures[kind])} ${words}`));
  return lines.length === 0 ? [NONE] : lines;
}
