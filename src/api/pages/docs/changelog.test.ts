import { expect, test } from "vitest";
import { changelog, markdownInHtml } from "./changelog.ts";

test("headings, paragraphs and lists become HTML; nothing in them is markup", () => {
  const markdown = "# Title\n\nOne\ntwo [here](https://x.example/a).\n\n- `a<b` & c\n  and on\n- [file](docs/x.md)\n";
  expect(markdownInHtml(markdown)).toBe(
    [
      "<h1>Title</h1>",
      '<p>One two <a href="https://x.example/a">here</a>.</p>',
      "<ul>\n<li><code>a&lt;b</code> &amp; c and on</li>\n<li>file</li>\n</ul>",
    ].join("\n"),
  );
  expect(markdownInHtml("<script>[x](javascript:alert)")).toBe("<p>&lt;script&gt;x</p>");
});

test("the project's changelog is shown with its versions", () => {
  const html = changelog();
  expect(html).toMatch(/^<h1>Changelog<\/h1>/);
  expect(html).toContain("<h2>Unreleased</h2>\n<h3>");
  expect(html).not.toMatch(/### |\*\*|\|---|<p>- /);
  expect(html).not.toMatch(/\]\(/);
});
