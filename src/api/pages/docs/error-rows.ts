import { ERRORS } from "../../../errors/error-codes.ts";

/** The table of error codes as rows of HTML: each has its code as its id, where `doc_url` of an error leads. */
export function errorRows(): string {
  return Object.entries(ERRORS)
    .map(([code, { http, retryable, meaning, advice }]) => {
      const note = `HTTP ${http}${retryable ? ", retryable" : ""}`;
      const words = `${inHtml(meaning)}. <strong>${inHtml(advice)}.</strong>`;
      return `<tr id="${code}"><td><code>${code}</code><span class="type">${note}</span></td><td>${words}</td></tr>`;
    })
    .join("\n");
}

/** Text as HTML; what stands between backticks is code. */
function inHtml(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped.replace(/`([^`]*)`/g, "<code>$1</code>");
}
