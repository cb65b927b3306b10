import { describe, expect, it } from "vitest";
import { findChromium } from "./browser.ts";
import { useTradePages } from "./trade-pages.ts";

/** What WCAG 2.2 asks of a control's outline (1.4.11) and of text (1.4.3), as ratios of luminance. */
const OUTLINE = 3;
const TEXT = 4.5;

describe.skipIf(findChromium() === undefined)("the controls of the pages in Chromium", () => {
  const pages = useTradePages();

  it.each(["light", "dark"] as const)("are seen against what is around them, %s", async (colorScheme) => {
    const page = await pages.newPage({ colorScheme });
    for (const path of ["/docs", "/trade", "/history", "/register"]) {
      await page.goto(pages.service.url + path);
      await page.waitForLoadState("networkidle");
      if (path === "/docs") await page.locator("#buy").getByText("Try it").click();
      const fields = await page.evaluate(contrastsOfFields);
      expect(fields.length).toBeGreaterThan(0);
      for (const { id, outline, placeholder } of fields) {
        expect(outline, `outline of ${path}#${id}`).toBeGreaterThanOrEqual(OUTLINE);
        expect(placeholder, `placeholder of ${path}#${id}`).toBeGreaterThanOrEqual(TEXT);
      }
    }
  });

  it("are as high as their neighbours", async () => {
    const page = await pages.newPage();
    for (const [path, ids] of [
      ["/history", ["status", "since", "find button"]],
      ["/trade", ["slippage", "priority"]],
    ] as const) {
      await page.goto(pages.service.url + path);
      const boxes = await Promise.all(ids.map((id) => page.locator(`#${id}`).boundingBox()));
      expect(new Set(boxes.map((box) => `${box!.y} ${box!.height}`)).size, path).toBe(1);
    }
  });
});

/** In the page: the contrast of every visible field's outline with what is around it, and of its placeholder with the field. */
function contrastsOfFields() {
  const channels = (color: string) => color.match(/[\d.]+/g)!.map(Number);
  const luminance = (color: string) => {
    const [red, green, blue] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const contrast = (a: string, b: string) => {
    const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (lighter! + 0.05) / (darker! + 0.05);
  };
  const around = (start: Element) => {
    let one = start;
    while (channels(getComputedStyle(one).backgroundColor)[3] === 0) one = one.parentElement!;
    return getComputedStyle(one).backgroundColor;
  };
  return [...document.querySelectorAll<HTMLElement>("input:not([type=checkbox]), select, textarea")]
    .filter((field) => field.checkVisibility())
    .map((field) => ({
      id: field.id,
      outline: contrast(getComputedStyle(field).borderTopColor, around(field.parentElement!)),
      placeholder: contrast(getComputedStyle(field, "::placeholder").color, around(field)),
    }));
}
