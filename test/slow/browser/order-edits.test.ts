import type { Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findChromium } from "./browser.ts";
import { build, get, landed, pay, proven, sign, useTradePages } from "./trade-pages.ts";

const chromium = findChromium();
const SWAP = "**/v1/tx/swap";

describe.skipIf(chromium === undefined)("orders in Chromium that change", () => {
  const pages = useTradePages({ SANDBOX_SLOT_MS: "150" });

  const edits: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
    amount: (page) => pay(page, "0.25"),
    share: (page) => page.getByRole("button", { name: "25 % of the balance" }).click(),
    slippage: (page) => page.getByLabel("Slippage, %").fill("2"),
    priority: (page) => page.getByLabel("Priority").selectOption("economy"),
    token: (page) => get(page, pages.service.mintOn("pump_fun")),
    "token that there is not": (page) => get(page, "NOPE"),
    sides: (page) => page.getByRole("button", { name: "Swap sides" }).click(),
  };

  it.each(Object.keys(edits))("offers no build to be signed that is not of the order typed: %s", async (name) => {
    const page = await pages.openWithThrowaway();
    await pay(page, "0.5");
    await build(page);
    await edits[name]!(page);
    expect(await page.getByRole("button", { name: "Sign and submit" }).isVisible()).toBe(false);
  });

  it("shows no build whose order changed while it was made", async () => {
    const page = await pages.openWithThrowaway();
    const held: Route[] = [];
    await page.route(SWAP, (route) => void held.push(route));
    await pay(page, "0.5");
    await page.locator("#review:enabled").click();
    await expect.poll(() => held.length).toBe(1);
    await pay(page, "0.25");
    await page.locator("#review:enabled").waitFor();
    const answered = page.waitForResponse(SWAP);
    await held[0]!.continue();
    await (await answered).finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await page.locator("#proof").isVisible()).toBe(false);
    await page.unroute(SWAP);
    await build(page);
    expect(await page.locator("#bounds").textContent()).toContain("at most 0.25 SOL");
    await sign(page);
    await landed(page);
  });

  it("builds an order once, whatever its price does meanwhile", async () => {
    const page = await pages.openWithThrowaway();
    const held: Route[] = [];
    await page.route(SWAP, (route) => void held.push(route));
    await pay(page, "0.5");
    await page.locator("#review:enabled").waitFor();
    const unfollowed = page.waitForEvent("requestfailed", (request) => request.url().includes("/v1/quotes/stream"));
    await page.locator("#review").click();
    await unfollowed;
    await expect.poll(() => held.length).toBe(1);
    expect(await page.locator("#review").isDisabled()).toBe(true);
    expect(await page.locator("#order-notice").textContent()).toBe("Building");
    await held[0]!.continue();
    await proven(page);
  });
});
