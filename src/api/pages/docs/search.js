// The search of the reference: hides every operation, error code and section in which a word does not occur.

import { byId } from "../shared/page.js";

/** Starts the search over what the page shows now. "/" moves to its field, Escape empties it. */
export function startSearch() {
  const field = byId("search");
  const entries = [...document.querySelectorAll(".docs article.operation:not(#errors), #errors tbody tr")].map(
    (shown) => ({
      shown,
      text: wordsOf(shown),
      link: document.querySelector(`#contents a[href="#${shown.id}"]`)?.parentElement,
    }),
  );
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const counts = { operations: 0, codes: 0 };
    for (const { shown, text, link } of entries) {
      const isFound = words.every((word) => text.includes(word));
      shown.hidden = !isFound;
      if (link !== undefined) link.hidden = !isFound;
      if (isFound) counts[shown.localName === "tr" ? "codes" : "operations"]++;
    }
    byId("errors").hidden = counts.codes === 0;
    for (const group of document.querySelectorAll(".docs h2")) group.hidden = !hasShown(group);
    byId("found").textContent = words.length === 0 ? "" : wordsFor(counts);
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || field.value === "") return;
    event.preventDefault();
    field.value = "";
    search();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(input|textarea|select)$/.test(event.target.localName ?? "");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
  // A link to something that the search has hidden shows everything again.
  window.addEventListener("hashchange", () => {
    const target = byId(location.hash.slice(1));
    if (target?.closest("[hidden]") == null) return;
    field.value = "";
    search();
    target.scrollIntoView();
  });
}

/** What is searched of an operation: what it says, not what every one lists. */
function wordsOf(shown) {
  const copy = shown.cloneNode(true);
  for (const part of copy.querySelectorAll(".sample, form, p.type")) part.remove();
  return `${shown.id} ${copy.textContent}`.toLowerCase();
}

/** True if an article of the group, up to the next heading, is shown. */
function hasShown(heading) {
  for (let next = heading.nextElementSibling; next?.localName === "article"; next = next.nextElementSibling) {
    if (!next.hidden) return true;
  }
  return false;
}

function wordsFor({ operations, codes }) {
  if (operations + codes === 0) return "Nothing found. Try one word of a field, a path or an error code.";
  const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  return `Found in ${count(operations, "section")} and ${count(codes, "error code")}.`;
}
