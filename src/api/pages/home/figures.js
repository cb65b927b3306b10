// The last minutes on the home page: what was asked, how long it took, how it landed.

import { byId, codeWords, element } from "../shared/page.js";
import { bar, lineChart } from "./charts.js";

/** A duration in the unit that fits. @param ms milliseconds */
export function duration(ms) {
  if (ms === null) return "–";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

const share = (fraction) => `${(fraction * 100).toFixed(fraction > 0.995 && fraction < 1 ? 2 : 0)} %`;
const number = (count) => count.toLocaleString("en");
const row = (name, value) => [element("dt", {}, name), element("dd", {}, value)];

/** Shows the figures; hides their section if the operator keeps them private. */
export function showFigures({ recent, landing }) {
  byId("figures").hidden = recent == null;
  if (recent == null) return;
  byId("figures-title").textContent = `The last ${recent.minutes === 1 ? "minute" : `${recent.minutes} minutes`}`;
  byId("asked").replaceChildren(
    ...row("Quotes", number(recent.quotes)),
    ...row("Builds", number(recent.builds)),
    ...row("Submits", number(recent.submits)),
    ...(recent.failures.length === 0 ? row("Failures", "none") : []),
    ...recent.failures
      .slice(0, 6)
      .flatMap(({ code, count }) => [
        element("dt", {}, element("a", { href: `/docs#${code}` }, ...codeWords(code))),
        element("dd", {}, number(count)),
      ]),
  );
  const lines = (of) => [
    { name: "p50", kind: "p50", values: recent.series.map((minute) => minute[of].p50Ms) },
    { name: "p99", kind: "p99", values: recent.series.map((minute) => minute[of].p99Ms) },
  ];
  byId("build-chart").replaceChildren(lineChart("Building", lines("build"), duration));
  byId("landing-chart").replaceChildren(lineChart("From submit to confirmed", lines("confirmed"), duration));
  byId("build-stages").replaceChildren(
    ...durations([
      { name: "all", ...recent.build },
      ...recent.buildStages.map((stage) => ({ name: stage.stage, ...stage })),
    ]),
  );
  byId("landing-events").replaceChildren(
    ...durations(recent.landing.map((event) => ({ name: event.event, ...event }))),
  );
  byId("levels").replaceChildren(...landing.levels.map(levelRow));
  byId("sender-rates").replaceChildren(...landing.senders.map(senderRow));
}

const durations = (rows) =>
  rows.map(({ name, p50Ms, p99Ms }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, duration(p50Ms)),
      element("td", {}, duration(p99Ms)),
    ),
  );

function levelRow({ level, sample, landedShare, slots, slotsP90 }) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, level),
    element("td", {}, number(sample)),
    element("td", {}, ...(landedShare === null ? ["–"] : [share(landedShare), bar(landedShare)])),
    element("td", {}, slots === null ? "–" : `${slots} / ${slotsP90}`),
  );
}

function senderRow({ name, sample, landedShare, refused }) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    element("td", {}, number(sample)),
    element("td", {}, ...(sample === 0 ? ["–"] : [share(landedShare), bar(landedShare)])),
    element("td", {}, number(refused)),
  );
}
