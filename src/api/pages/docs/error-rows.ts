import { ERRORS } from "../../../errors/error-codes.ts";
import { inHtml } from "./html-text.ts";

/** The table of error codes as rows of HTML: each has its code as its id, where `doc_url` of an error leads. */
export function errorRows(): string {
  return Object.entries(ERRORS)
    .map(([code, { http, retryable, meaning, advice }]) => {
      const note = `HTTP ${http}${retryable ? ", retryable" : ""}`;
      const words = `${inHtml(meaning)}. <strong>${inHtml(advice)}.</strong>`;
      return `<tr id="${code}"><td><a href="#${code}"><code>${code}</code></a><span class="type">${note}</span></td><td>${words}</td></tr>`;
    })
    .join("\n");
}
