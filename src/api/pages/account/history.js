// The trades of an account, page by page, and as files.

import { sol } from "../shared/amounts.js";
import { byId, call, codeWords, element, fetchStatus, localTime, suspend, takeKey } from "../shared/page.js";
import { Tokens } from "../shared/tokens.js";

let tokens;
/** The search on show: its key and terms, its trades so far, for the export, and where the next page begins. */
let search;

function say(words, kind = "") {
  byId("notice").className = `notice ${kind}`;
  byId("notice").textContent = words;
}

/** The terms of a search, as they stand in the form. */
function termsOf() {
  const terms = new URLSearchParams({ limit: "50" });
  for (const status of byId("status")
    .value.split(",")
    .filter((one) => one !== ""))
    terms.append("status", status);
  const since = byId("since").value;
  if (since !== "") terms.set("since", new Date(since).toISOString());
  return terms;
}

/** Shows the next page of a search, unless another one has begun by then. */
async function showPage(of) {
  const query = new URLSearchParams(of.terms);
  if (of.cursor !== undefined) query.set("cursor", of.cursor);
  const resume = suspend(byId("more"));
  try {
    tokens ??= new Tokens(await fetchStatus());
    const { trades, nextCursor } = await call("GET", `/v1/tx?${query}`, { apiKey: of.apiKey });
    if (of !== search) return;
    of.trades.push(...trades);
    of.cursor = nextCursor ?? undefined;
    byId("trades").tBodies[0].append(...trades.map(rowOf));
    byId("more").hidden = of.cursor === undefined;
    byId("found").hidden = false;
    say(of.trades.length === 0 && of.cursor === undefined ? "No such trades." : "");
  } catch (error) {
    if (of !== search) return;
    byId("found").hidden = of.trades.length === 0;
    say(error.message, "bad");
  }
  resume();
}

byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const apiKey = byId("key").value.trim();
  if (apiKey === "") {
    say("Enter a key of the account first.", "bad");
    return;
  }
  search = { apiKey, terms: termsOf(), trades: [] };
  byId("trades").tBodies[0].replaceChildren();
  showPage(search);
});
byId("more").addEventListener("click", () => showPage(search));

const AMOUNT = { maximumSignificantDigits: 8 };
const amounts = ({ inputAmount, outputAmount }) =>
  `${inputAmount.toLocaleString("en", AMOUNT)} → ${outputAmount.toLocaleString("en", AMOUNT)}`;

/** How much less (or more) arrived than was promised, per amount paid. */
function difference({ quoted, tradeResult }) {
  if (quoted === null || tradeResult === null) return "";
  const promised = quoted.outputAmount / quoted.inputAmount;
  const change = (tradeResult.outputAmount / tradeResult.inputAmount - promised) / promised;
  return Math.abs(change) < 5e-7 ? "as promised" : `${change > 0 ? "+" : ""}${(change * 100).toFixed(4)} %`;
}

function rowOf(trade) {
  const {
    signature,
    status,
    platform,
    inputMint,
    outputMint,
    quoted,
    tradeResult,
    costs,
    submittedAt,
    failure,
    diagnosis,
  } = trade;
  const kind = failure !== null ? "bad" : status === "finalized" || status === "confirmed" ? "good" : "warn";
  const names = platform === "" ? "" : `${tokens.name(inputMint)} → ${tokens.name(outputMint)}`;
  const paid =
    costs &&
    BigInt(costs.baseFee) +
      BigInt(costs.priorityFee) +
      BigInt(costs.tip) +
      BigInt(costs.rentPaid) -
      BigInt(costs.rentReturned);
  const words = failure === null ? [] : [element("small", { title: failure.message }, " ", ...codeWords(failure.code))];
  if (diagnosis !== null)
    words.push(element("small", { class: "under", title: diagnosis.evidence }, diagnosis.cause.replaceAll("_", " ")));
  // Roles: a small screen shows the rows as blocks, which are no table to a screen reader without them.
  const cell = (label, ...content) => element("td", { role: "cell", "data-label": label }, ...content);
  return element(
    "tr",
    { role: "row" },
    cell(
      "Submitted",
      localTime(submittedAt),
      element("small", { class: "under", title: signature }, `${signature.slice(0, 10)}…`),
    ),
    cell("Trade", names, element("small", { class: "under" }, platform)),
    cell("Promised", quoted === null ? "" : amounts(quoted)),
    cell(
      "Real",
      tradeResult === null ? "" : amounts(tradeResult),
      element("small", { class: "under" }, difference(trade)),
    ),
    cell("Costs", paid === null ? "" : `${paid < 0n ? "−" : ""}${sol(paid < 0n ? -paid : paid)}`),
    cell("Status", element("span", { class: `state ${kind}` }, status), ...words),
  );
}

const COLUMNS = [
  ["signature", (trade) => trade.signature],
  ["status", (trade) => trade.status],
  ["submittedAt", (trade) => trade.submittedAt],
  ["endedAt", (trade) => trade.endedAt],
  ["slot", (trade) => trade.slot],
  ["platform", (trade) => trade.platform],
  ["inputMint", (trade) => trade.inputMint],
  ["outputMint", (trade) => trade.outputMint],
  ["quotedInputRaw", (trade) => trade.quoted?.inputAmountRaw],
  ["quotedOutputRaw", (trade) => trade.quoted?.outputAmountRaw],
  ["inputAmount", (trade) => trade.tradeResult?.inputAmount],
  ["outputAmount", (trade) => trade.tradeResult?.outputAmount],
  ["inputRaw", (trade) => trade.tradeResult?.inputAmountRaw],
  ["outputRaw", (trade) => trade.tradeResult?.outputAmountRaw],
  ["baseFeeLamports", (trade) => trade.costs?.baseFee],
  ["priorityFeeLamports", (trade) => trade.costs?.priorityFee],
  ["tipLamports", (trade) => trade.costs?.tip],
  ["rentPaidLamports", (trade) => trade.costs?.rentPaid],
  ["rentReturnedLamports", (trade) => trade.costs?.rentReturned],
  ["failure", (trade) => trade.failure?.code],
  ["cause", (trade) => trade.diagnosis?.cause],
];

/** Quoted where needed. Nothing of this table begins a formula: codes, numbers, base58 and ISO times. */
const csvCell = (value) =>
  /[",\n]/.test(String(value ?? "")) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? "");

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

byId("csv").addEventListener("click", () => {
  const lines = [
    COLUMNS.map(([name]) => name),
    ...search.trades.map((trade) => COLUMNS.map(([, read]) => csvCell(read(trade)))),
  ];
  save("tradewire-trades.csv", "text/csv", `${lines.map((cells) => cells.join(",")).join("\r\n")}\r\n`);
});
byId("json").addEventListener("click", () => {
  save("tradewire-trades.json", "application/json", `${JSON.stringify(search.trades, null, 2)}\n`);
});

byId("key").value = takeKey();
if (byId("key").value !== "") byId("find").requestSubmit();
