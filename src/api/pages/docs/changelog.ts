import { readFileSync } from "node:fs";
import { inHtml } from "./html-text.ts";

/** CHANGELOG.md as HTML. */
export function changelog(): string {
  return markdownInHtml(readFileSync(new URL("../../../../CHANGELOG.md", import.meta.url), "utf8"));
}

/** Markdown of headings, paragraphs and flat lists, with empty lines between them, as HTML. */
export function markdownInHtml(markdown: string): string {
  return markdown
    .trim()
    .split(/\n\s*\n/)
    .map(blockInHtml)
    .join("\n");
}

function blockInHtml(block: string): string {
  const [, marks, title] = /^(#{1,3}) (.+)$/.exec(block) ?? [];
  if (marks !== undefined) return `<h${marks.length}>${inline(title!)}</h${marks.length}>`;
  if (!block.startsWith("- ")) return `<p>${inline(block)}</p>`;
  const items = block.slice(2).split(/\n- /);
  return `<ul>\n${items.map((item) => `<li>${inline(item)}</li>`).join("\n")}\n</ul>`;
}

/** Only links to other hosts lead anywhere: files of the repository are not served. */
function inline(text: string): string {
  const words = inHtml(text.replace(/\s*\n\s*/g, " "));
  return words.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, shown: string, target: string) =>
    target.startsWith("https://") ? `<a href="${target.replaceAll('"', "%22")}">${shown}</a>` : shown,
  );
}
