import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium } from "./browser.ts";
import { injectWallet, type WalletConduct } from "./standard-wallet.ts";
import { build, get, landed, pay, proven, sign, useTradePages } from "./trade-pages.ts";

/** What WCAG 2.2 asks of a control's outline (1.4.11) and of text (1.4.3), as ratios of luminance. */
const OUTLINE = 3;
const TEXT = 4.5;

const SMALL_SCREEN = { width: 320, height: 800 };
/** What stands above a heading at the top of the window: the card's border and padding, and a margin. Pixels. */
const ABOVE_HEADING = 60;

/** On a busy machine. */
const PATIENCE = { timeout: 60_000 };

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

  it("can be hit with a finger: 24 pixels around the middle of each box to tick are its own", async () => {
    for (const path of ["/trade", "/register"]) {
      const page = await pages.newPage();
      await page.goto(pages.service.url + path);
      await page.locator("label.check").first().waitFor();
      const crowded = await page.evaluate(() => {
        const all = [...document.querySelectorAll("input, select, button, a")].filter((one) => one.checkVisibility());
        return all
          .filter((one) => (one as HTMLInputElement).type === "checkbox")
          .flatMap((box) => {
            const { left, top, width, height } = box.getBoundingClientRect();
            const [x, y] = [left + width / 2, top + height / 2];
            return all
              .filter((other) => other !== box)
              .map((other) => other.getBoundingClientRect())
              .filter((at) => Math.max(at.left - x, x - at.right, at.top - y, y - at.bottom) < 12)
              .map(() => box.id);
          });
      });
      expect([path, crowded]).toEqual([path, []]);
    }
  });

  it("of shares of a balance stand in one row on a small screen", async () => {
    const page = await pages.openWithThrowaway(undefined, { viewport: SMALL_SCREEN });
    const boxes = await Promise.all((await page.locator("[data-percent]").all()).map((button) => button.boundingBox()));
    expect(new Set(boxes.map((box) => box!.y)).size).toBe(1);
  });

  it("lead to the heading of what comes next on a small screen", async () => {
    const page = await pages.openWithThrowaway(undefined, { viewport: SMALL_SCREEN });
    await get(page, "USDC");
    await pay(page, "1");
    await page.locator("#review:enabled").waitFor();
    await page.getByLabel("You pay", { exact: true }).press("Enter");
    await proven(page);
    await expectInView(page.locator("#proof"), ABOVE_HEADING);
    await sign(page);
    await landed(page);
    // As far up as the end of the page allows.
    await expectInView(page.locator("#result"), SMALL_SCREEN.height);
    const register = await openRegister(await pages.newPage({ viewport: SMALL_SCREEN }));
    await register.getByRole("button", { name: "Sign and get a key" }).click();
    await register.getByText("Shown only once.").waitFor();
    await expectInView(register.locator("#result"), ABOVE_HEADING);
  });

  it("have the focus again once they can be used again", async () => {
    const page = await openRegister(await pages.newPage(), { rejects: "sign" });
    await expect.poll(() => focused(page), PATIENCE).toBe("Test Wallet");
    await page.getByRole("button", { name: "Sign and get a key" }).press("Enter");
    await page.getByText("The wallet declined").waitFor();
    await expect.poll(() => focused(page), PATIENCE).toBe("Sign and get a key");
  });

  it("have the focus after a refused signature and after Disconnect on the trade page", async () => {
    const { page } = await pages.openWithExtension({ rejects: "transaction" });
    await page.getByText("Balance 10 SOL").waitFor();
    await get(page, "USDC");
    await pay(page, "1");
    await build(page);
    await page.locator("#sign").press("Enter");
    await page.getByText("The wallet declined").waitFor();
    await expect.poll(() => focused(page), PATIENCE).toBe("Sign and submit");
    await page.locator("#leave").press("Enter");
    await expect.poll(() => focused(page), PATIENCE).toBe("Use a throwaway wallet");
  });

  it("stand beside a price that rests during a build, which is no failure", async () => {
    const page = await pages.openWithThrowaway();
    await get(page, "USDC");
    await pay(page, "1");
    await build(page);
    const [words, color, quiet] = await page.evaluate(() => {
      const { content, color } = getComputedStyle(document.querySelector("#quote")!, "::before");
      return [content, color, getComputedStyle(document.querySelector("#in-balance")!).color];
    });
    expect(words).toContain("not followed at the moment");
    expect(color).toBe(quiet);
  });

  /** The registration page, connected to an extension. */
  async function openRegister(page: Page, conduct: WalletConduct = {}) {
    await injectWallet(page, createTestWallet(), conduct);
    await page.goto(`${pages.service.url}/register`);
    await page.getByRole("button", { name: "Test Wallet" }).press("Enter");
    await page.getByText("Connected with Test Wallet").waitFor();
    return page;
  }
});

const focused = (page: Page) => page.evaluate(() => document.activeElement!.textContent);

/** The section has the focus and its heading is in the window, above this height in pixels. */
async function expectInView(section: Locator, below: number): Promise<void> {
  await expect.poll(() => section.evaluate((one) => one === document.activeElement), PATIENCE).toBe(true);
  const top = await section.locator("h2").evaluate(topAtRest);
  expect(top).toBeGreaterThanOrEqual(0);
  expect(top).toBeLessThan(below);
}

/** In the page: where an element is once the page has not scrolled for thirty frames. Pixels from the window's top. */
async function topAtRest(one: Element): Promise<number> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let top = Number.NaN;
  for (let still = 0; still < 30; await frame()) {
    const { top: now } = one.getBoundingClientRect();
    still = now === top ? still + 1 : 0;
    top = now;
  }
  return top;
}

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
