import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../../src/errors/error-codes.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";

const chromium = findChromium();
const SUBMIT = "**/v1/tx/submit";
/** Failures of a submit that come again if nothing is changed: what the page advises, carried out, ends in a trade. */
const SUBMITS: Readonly<Record<string, string>> = {
  TX_EXPIRED: "Build again.",
  PROGRAM_ERROR: "Build again: the market has changed.",
  NO_ROUTE: "Choose another token or amount, or try again later.",
  INSUFFICIENT_LIQUIDITY: "Choose a smaller amount and build again.",
  INSUFFICIENT_TOKEN_BALANCE: "Choose a smaller amount and build again.",
  INSUFFICIENT_SOL: "Add SOL to the wallet, or trade a smaller amount, and build again.",
  INVALID_SIGNATURE: "Choose the account shown above in the wallet, and build again.",
  INVALID_SUBMISSION_TOKEN: "Build again.",
  OUTCOME_UNKNOWN: "Look at your balances or at an explorer before you trade again.",
};

describe.skipIf(chromium === undefined)("what the trade page advises on a failure", () => {
  let service: TestService;
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    // Six pauses of the page are less than the life of a build.
    service = await startTestService({ SANDBOX_SLOT_MS: "150" });
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => expect(troubles.splice(0)).toEqual([]));

  async function openWithThrowaway(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(25_000);
    page.on("pageerror", (error) => troubles.push(error.message));
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    return page;
  }

  async function get(page: Page, token: string): Promise<void> {
    await page.locator("#out-token").fill(token);
    await page.locator("#out-token").blur();
  }

  const pay = (page: Page, amount: string) => page.getByLabel("You pay", { exact: true }).fill(amount);
  const sign = (page: Page) => page.getByRole("button", { name: "Sign and submit" }).click();
  const landed = (page: Page) => page.getByText("The trade landed.").waitFor();

  async function build(page: Page): Promise<void> {
    await page.locator("#review:enabled").click();
    await page.getByText("Every instruction is part of your trade").waitFor();
  }

  async function trade(page: Page): Promise<void> {
    await build(page);
    await sign(page);
    await landed(page);
  }

  const advised = (page: Page, where: string, words: string) => page.locator(where, { hasText: words }).waitFor();
  const leadsTo = async (page: Page, where: string, code: string) =>
    expect(await page.locator(`${where} a`).getAttribute("href")).toBe(`/docs#${code}`);

  it("a price that moved away: more slippage lands; the history has both", async () => {
    const page = await openWithThrowaway();
    const mint = service.mintOn("pump_fun", "KITE");
    await get(page, mint);
    await page.getByLabel("Slippage, %").fill("0");
    await pay(page, "0.5");
    await build(page);
    const other = await service.newClient();
    await other.buy({ mint, solAmount: 5, slippage: 0.5, priority: "fast" });
    other.close();
    await sign(page);
    await advised(page, "#outcome", "Allow more slippage, or trade a smaller amount, and build again.");
    await leadsTo(page, "#outcome", "SLIPPAGE_EXCEEDED");
    await page.getByRole("button", { name: "Trade again" }).click();
    await page.getByLabel("Slippage, %").fill("5");
    await trade(page);

    await page.getByRole("button", { name: "History" }).click();
    await page.locator("#trades tbody tr").nth(1).waitFor();
    const [last, first] = await page.locator("#trades tbody tr").allTextContents();
    expect(last).toMatch(/as promised.*(confirmed|finalized)/);
    expect(first).toMatch(/failed SLIPPAGE_EXCEEDED/);
    await page.getByLabel("Status").selectOption({ label: "failed or expired" });
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await expect.poll(() => page.locator("#trades tbody tr").count()).toBe(1);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export JSON" }).click();
    let json = "";
    for await (const chunk of await (await download).createReadStream()) json += chunk;
    expect(JSON.parse(json)).toMatchObject([{ status: "failed", failure: { code: "SLIPPAGE_EXCEEDED" } }]);
    await page.getByLabel("Since").fill("2099-01-01T00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("No such trades.").waitFor();
  });

  it("more than the market or the wallet has, and a mint that does not exist: other input is traded", async () => {
    const page = await openWithThrowaway();
    await get(page, service.mintOn("pump_fun", "KITE"));
    await page.getByLabel("You get", { exact: true }).fill("99999999999");
    await advised(page, "#order-notice", "Choose a smaller amount and build again.");
    await leadsTo(page, "#order-notice", "INSUFFICIENT_LIQUIDITY");
    await get(page, createTestWallet().address.toString());
    await pay(page, "0.5");
    await advised(page, "#order-notice", "Check the mint; a new one appears within a second or two.");
    await leadsTo(page, "#order-notice", "TOKEN_NOT_FOUND");
    await get(page, "EMBER");
    await pay(page, "60");
    await page.locator("#review:enabled").click();
    await advised(page, "#order-notice", "Add SOL to the wallet, or trade a smaller amount, and build again.");
    await leadsTo(page, "#order-notice", "INSUFFICIENT_SOL");
    await pay(page, "0.5");
    await trade(page);
    await page.getByRole("button", { name: "Trade again" }).click();
    await page.getByRole("button", { name: "Swap sides" }).click();
    await page.locator("#in-balance", { hasText: /[1-9]/ }).waitFor();
    await page.getByLabel("You get", { exact: true }).fill("0.6");
    await page.locator("#review:enabled").click();
    await advised(page, "#order-notice", "Choose a smaller amount and build again.");
    await leadsTo(page, "#order-notice", "INSUFFICIENT_TOKEN_BALANCE");
    // The advice stays while the price goes on.
    const price = await page.locator("#quote-facts").textContent();
    const other = await service.newClient();
    const mint = service.mintOn("raydium_cpmm", "EMBER");
    await other.buy({ mint, solAmount: 5, slippage: 0.5, priority: "fast" });
    await other.sell({ mint, tokenAmount: 150_000, slippage: 0.5, priority: "fast" });
    other.close();
    await expect.poll(() => page.locator("#quote-facts").textContent(), { timeout: 25_000 }).not.toBe(price);
    await leadsTo(page, "#order-notice", "INSUFFICIENT_TOKEN_BALANCE");
    await page.getByRole("button", { name: "50 % of the balance" }).click();
    await trade(page);
  });

  it("a key that was revoked elsewhere: connecting again gives another", async () => {
    const page = await openWithThrowaway();
    const asked = page.waitForRequest("**/v1/quotes/stream?**");
    await pay(page, "0.5");
    const { authorization } = await (await asked).allHeaders();
    const headers = { authorization: authorization! };
    const { data } = await (await fetch(`${service.url}/v1/auth/keys`, { headers })).json();
    await fetch(`${service.url}/v1/auth/keys/${data.keys[0].keyId}`, { method: "DELETE", headers });
    // The stream that is open may live on a little: a new order needs another.
    await pay(page, "0.6");
    await advised(page, "#order-notice", "Disconnect, and connect the wallet again.");
    await leadsTo(page, "#order-notice", "AUTH_ERROR");
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText(/^Balance \d+ SOL$/).waitFor();
    await trade(page);
  });

  it.each(Object.entries(SUBMITS))("%s at the submit", async (code, advice) => {
    const page = await openWithThrowaway();
    const { meaning, retryable } = ERRORS[code as keyof typeof ERRORS];
    const isExpired = code === "TX_EXPIRED";
    const diagnosis = { diagnosis: "priority_low", sure: true, evidence: "EVIDENCE.", remedy: "REMEDY." };
    const error = { code, message: `${meaning}.`, retryable, safeToRebuild: isExpired, doc_url: `/docs#${code}` };
    await page.route(SUBMIT, (route) =>
      route.fulfill({
        status: 410,
        json: { success: false, error: { ...error, ...(isExpired ? { details: diagnosis } : {}) } },
      }),
    );
    await pay(page, "0.5");
    await build(page);
    await sign(page);
    await advised(page, "#outcome", `${meaning}. ${advice}`);
    await leadsTo(page, "#outcome", code);
    const last = await page.locator("#timeline li").last().textContent();
    expect(last).toBe(isExpired ? "Why: its priority fee was too low for the chain. EVIDENCE. REMEDY." : code);
    await page.unroute(SUBMIT);
    await page.getByRole("button", { name: "Trade again" }).click();
    await pay(page, "0.25");
    await trade(page);
  });

  it("an expiry that is not proven of every signature: nothing but what the service says", async () => {
    const page = await openWithThrowaway();
    const message = "It may have landed. Check the wallet before building again.";
    const error = { code: "TX_EXPIRED", message, retryable: false, safeToRebuild: false, doc_url: "/docs#TX_EXPIRED" };
    await page.route(SUBMIT, (route) => route.fulfill({ status: 410, json: { success: false, error } }));
    await pay(page, "0.5");
    await build(page);
    await sign(page);
    await advised(page, "#outcome", message);
    expect(await page.locator("#outcome").textContent()).toBe(`${message} What TX_EXPIRED means`);
  });

  it.each(["RATE_LIMIT_EXCEEDED", "OVERLOADED"])(
    "builds without the worst case if those are refused: %s",
    async (code) => {
      const page = await openWithThrowaway();
      await page.route("**/v1/tx/swap", (route) => {
        if (route.request().postDataJSON().worstCase !== true) return route.continue();
        const error = { code, message: "Too many worst cases.", retryable: true };
        return route.fulfill({ status: 429, json: { success: false, error } });
      });
      await pay(page, "0.5");
      await build(page);
      expect(await page.locator("#bounds").getByText("Trades around yours").count()).toBe(0);
    },
  );

  it("failures that pass: the page asks again by itself, and says so", async () => {
    const page = await openWithThrowaway();
    const codes = Object.entries(ERRORS).filter(([, { retryable }]) => retryable);
    const waiting = codes.map(([code]) => code);
    await page.route(SUBMIT, (route) => {
      const code = waiting.shift();
      if (code === undefined) return route.continue();
      return route.fulfill({
        status: 503,
        json: { success: false, error: { code, message: `${code}.`, retryable: true, safeToRebuild: false } },
      });
    });
    await pay(page, "0.5");
    await build(page);
    await sign(page);
    for (const [code] of codes)
      await advised(page, "#outcome", `Not decided: ${code}. The trade may land all the same; this page asks again.`);
    await landed(page);
  });
});
