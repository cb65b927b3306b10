import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";
import { injectWallet, type WalletConduct } from "./standard-wallet.ts";

const chromium = findChromium();

describe.skipIf(chromium === undefined)("trades in Chromium that overlap", () => {
  let service: TestService;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    service = await startTestService({ SANDBOX_SLOT_MS: "150" });
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });

  async function open(conduct: WalletConduct = {}): Promise<Page> {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const wallet = createTestWallet();
    await service.rpc("requestAirdrop", [wallet.address.toString(), 10e9]);
    await injectWallet(page, wallet, conduct);
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    return page;
  }

  async function build(page: Page, amount: string): Promise<void> {
    await page.getByLabel("You pay", { exact: true }).fill(amount);
    await page.locator("#review:enabled").click();
    await page.locator("#proof").waitFor();
  }

  const sign = (page: Page) => page.getByRole("button", { name: "Sign and submit" }).click();
  const landed = (page: Page) => page.getByText("The trade landed.");

  it("shows the last of two open trades, and finds both again after a reload", async () => {
    const page = await open();
    const held: Route[] = [];
    await page.route("**/v1/tx/submit", (route) => void held.push(route));
    for (const amount of ["0.5", "0.25"]) {
      await build(page, amount);
      await sign(page);
      await expect.poll(() => held.length).toBe(amount === "0.5" ? 1 : 2);
    }
    const decided = page.waitForResponse((response) => /\/v1\/tx\/\w{60,}$/.test(response.url()) && response.ok());
    await held[0]!.continue();
    await (await decided).finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    // The first has landed; the page shows the second, which no other has observed.
    expect(await landed(page).isVisible()).toBe(false);
    await page.unroute("**/v1/tx/submit");
    await page.reload();
    await landed(page).waitFor();
    expect((await page.locator("#compare tbody tr").allTextContents())[0]).toBe("Paid0.25 SOL0.25 SOL");
  });

  it("never lets a refused build be signed, whatever becomes of the one before", async () => {
    const page = await open({ holds: true, rejects: "released" });
    await build(page, "0.5");
    await sign(page);
    await page.getByText("Waiting for Test Wallet to sign").waitFor();
    await page.getByRole("button", { name: "Back to the order" }).click();
    await page.route("**/v1/tx/swap", async (route) => {
      const answer = await (await route.fetch()).json();
      const tip = String(BigInt(answer.data.costs.tip) + 1n);
      await route.fulfill({ json: { ...answer, data: { ...answer.data, costs: { ...answer.data.costs, tip } } } });
    });
    await build(page, "0.25");
    await page.getByText("Not signed:").waitFor();
    await page.evaluate(() => (window as unknown as { testWalletRelease(): void }).testWalletRelease());
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await page.getByRole("button", { name: "Sign and submit" }).isDisabled()).toBe(true);
    expect(await page.locator("#verdict").textContent()).toMatch(/^Not signed:/);
  });

  it("never calls a trade failed because its key is refused after an answer was lost", async () => {
    const page = await open();
    let submits = 0;
    await page.route("**/v1/tx/submit", async (route) => {
      submits++;
      if (submits === 1) {
        // It arrives; its answer does not.
        await route.fetch();
        await route.abort();
      } else {
        const error = { code: "AUTH_ERROR", message: "The API key was revoked.", retryable: false };
        await route.fulfill({ status: 401, json: { success: false, error } });
      }
    });
    await build(page, "0.5");
    await sign(page);
    await page.locator("#outcome", { hasText: "may have landed" }).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem("tradewire-trade"))).not.toBe(null);
    await page.unroute("**/v1/tx/submit");
    await page.reload();
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await landed(page).waitFor();
  });
});
