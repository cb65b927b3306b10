import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";
import { findChromium, launch } from "./browser.ts";

const chromium = findChromium();
const OBSERVED = { samples: 300, windowSeconds: 1_500, spanSeconds: 60, quantile: 0.95, movement: 0.00281 };

describe.skipIf(chromium === undefined)("slippage on the trade page", () => {
  let service: TestService;
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    service = await startTestService({ SANDBOX_SLOT_MS: "150" });
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => expect(troubles.splice(0)).toEqual([]));

  /** A page with a funded wallet. */
  async function openPage(): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => troubles.push(error.message));
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    return page;
  }

  /** Has the page read, in the service's prices, what `said` makes of the movement. @returns slippages that prices were asked for */
  async function observing(page: Page, said: (url: URL) => object): Promise<string[]> {
    const asked: string[] = [];
    await page.route("**/v1/quotes/stream?*", async (route) => {
      const request = route.request();
      const url = new URL(request.url());
      const answer = await fetch(url, { headers: await request.allHeaders() });
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!/^event: quote\ndata: .*\n\n/m.test(text)) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
      }
      await reader.cancel();
      asked.push(url.searchParams.get("slippage")!);
      const data = JSON.parse(/^event: quote\ndata: (.*)$/m.exec(text)![1]!);
      const event = `event: quote\ndata: ${JSON.stringify({ ...data, priceMovement: said(url) })}\n\n`;
      // The page may have left this price by now.
      await route.fulfill({ contentType: "text/event-stream", body: event }).catch(() => undefined);
    });
    return asked;
  }

  const paid = (page: Page) => page.getByLabel("You pay", { exact: true });
  const basis = (page: Page) => page.locator("#slippage-basis");

  it("chooses it on request alone, shows what it rests on, and sends the number shown", async () => {
    const page = await openPage();
    // A larger trade falls further, beyond the cap.
    const asked = await observing(page, (url) => ({
      ...OBSERVED,
      movement: url.searchParams.get("amount") === "0.5" ? OBSERVED.movement : 0.09,
    }));
    expect(await page.getByLabel("Auto").isChecked()).toBe(false);
    await paid(page).fill("0.5");
    await page.getByText("Worst outcome at 1 %").waitFor();
    expect(asked.every((slippage) => slippage === "0.01")).toBe(true);
    expect(await basis(page).isHidden()).toBe(true);

    await page.getByLabel("Auto").check();
    await page.getByText("Worst outcome at 0.29 %").waitFor();
    expect(await page.locator("#slippage").inputValue()).toBe("0.29");
    expect(await basis(page).textContent()).toBe(
      "Auto chose 0.29 %: the service says that within 60 s the price fell by at most 0.281 % in 95 % of 300 samples over 25 min; the cap is 3 %.",
    );
    expect(asked.filter((slippage) => slippage === "0.03")).toHaveLength(1);

    await paid(page).fill("0.6");
    await page.getByText("Worst outcome at 3 %").waitFor();
    expect(await basis(page).textContent()).toMatch(/at most 9 % .* more than the cap of 3 %\.$/);

    await paid(page).fill("0.5");
    await page.getByText("Worst outcome at 0.29 %").waitFor();
    const built = page.waitForRequest("**/v1/tx/swap");
    await page.locator("#review:enabled").click();
    expect((await built).postDataJSON()).toMatchObject({ amount: 0.5, slippage: 0.0029 });
    await page.getByText("Every instruction is part of your trade").waitFor();

    // Without the choice, the number stays and is the caller's own.
    await page.getByRole("button", { name: "Back to the order" }).click();
    await page.getByText("Worst outcome at 0.29 %").waitFor();
    await page.getByLabel("Auto").uncheck();
    expect(await page.locator("#slippage").inputValue()).toBe("0.29");
    expect(await basis(page).isHidden()).toBe(true);
    await page.close();
  });

  it("is chosen again while the form is left open, also if the market rests, and an old choice is not built with", async () => {
    const page = await openPage();
    await page.clock.install();
    let { movement } = OBSERVED;
    await observing(page, () => ({ ...OBSERVED, movement }));
    await page.route("**/v1/tx/quote", async (route) => {
      const body = await (await route.fetch()).json();
      body.data.priceMovement = { ...OBSERVED, movement };
      await route.fulfill({ json: body });
    });
    await paid(page).fill("0.5");
    await page.clock.runFor(1_000);
    await page.getByText("Worst outcome at 1 %").waitFor();
    await page.getByLabel("Auto").check();
    await page.clock.runFor(1_000);
    await page.getByText("Worst outcome at 0.29 %").waitFor();
    movement = 0.0123;
    await page.clock.runFor(31_000);
    await page.getByText("Worst outcome at 1.23 %").waitFor();
    expect(await basis(page).textContent()).toContain("Auto chose 1.23 %");

    // A machine that slept: no timer ran, and the price of then is still on show.
    await page.unroute("**/v1/tx/quote");
    await page.route("**/v1/tx/quote", (route) => route.abort());
    await page.locator("#review:enabled").waitFor();
    await page.clock.setSystemTime(Date.now() + 3_600_000);
    let builds = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/tx/swap")) builds++;
    });
    await page.locator("#review:enabled").click();
    await page.getByText("The automatic slippage was chosen too long ago: it is chosen again.").waitFor();
    expect(builds).toBe(0);
    await page.clock.runFor(2_000);
    await page.getByText("Worst outcome at 1.23 %").waitFor();
    await page.locator("#review:enabled").waitFor();
    await page.close();
  });

  it("asks for a number once the figures behind a choice are gone: the old choice is not the caller's own", async () => {
    const page = await openPage();
    await page.clock.install();
    let { movement } = OBSERVED;
    await observing(page, () => ({ ...OBSERVED, movement }));
    await page.route("**/v1/tx/quote", async (route) => {
      const body = await (await route.fetch()).json();
      body.data.priceMovement = { ...OBSERVED, movement };
      await route.fulfill({ json: body });
    });
    await page.getByLabel("Auto").check();
    await paid(page).fill("0.5");
    await page.clock.runFor(1_000);
    await page.getByText("Worst outcome at 0.29 %").waitFor();
    await page.locator("#review:enabled").waitFor();
    movement = -0.5;
    await page.clock.runFor(31_000);
    await page.getByText("what the service says of it cannot be").waitFor();
    expect(await page.getByLabel("Auto").isChecked()).toBe(false);
    expect(await page.locator("#slippage").inputValue()).toBe("");
    expect(await page.locator("#review").isDisabled()).toBe(true);
    await page.close();
  });

  it("asks for a number if the price has been observed too little, or the service says what cannot be", async () => {
    const page = await openPage();
    await paid(page).fill("0.5");
    await page.getByText("Worst outcome at 1 %").waitFor();
    await page.getByLabel("Auto").check();
    await page.getByText(/observed its price from \d+ moments only.*give slippage as a number/).waitFor();
    expect(await page.getByLabel("Auto").isChecked()).toBe(false);
    expect(await page.locator("#slippage").inputValue()).toBe("");
    expect(await page.locator("#review").isDisabled()).toBe(true);

    await page.locator("#slippage").fill("2");
    await page.getByText("Worst outcome at 2 %").waitFor();
    await page.locator("#review:enabled").waitFor();

    await observing(page, () => ({ ...OBSERVED, movement: -0.5 }));
    await page.getByLabel("Auto").check();
    await page.getByText("what the service says of it cannot be").waitFor();
    expect(await page.locator("#review").isDisabled()).toBe(true);
    await page.close();
  });
});
