import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Environment } from "../../../src/config/config.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";
import { injectWallet, type WalletConduct } from "./standard-wallet.ts";

/** The trade page in Chromium, on a service of its own. No page may fail in a script; each is closed after its test. */
export interface TradePages {
  readonly service: TestService;
  /** A page in a context of its own. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** A further tab beside the last page that was opened. */
  newTab(): Promise<Page>;
  /** The trade page with a throwaway wallet that holds 10 SOL. @param url of another service */
  openWithThrowaway(url?: string, options?: BrowserContextOptions): Promise<Page>;
  /** The trade page, connected to an extension whose account holds 10 SOL. @param page one that is open already */
  openWithExtension(
    conduct?: WalletConduct,
    page?: Page,
  ): Promise<{ readonly page: Page; readonly wallet: TestWallet }>;
}

/** Waits of a page on a busy machine. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Starts service and browser for the tests of a `describe`, and stops them after it. @param settings of the service */
export function useTradePages(settings: Environment = {}): TradePages {
  let service: TestService;
  let browser: Browser;
  const troubles: string[] = [];
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    service = await startTestService(settings);
    browser = await launch(findChromium()!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(troubles.splice(0)).toEqual([]);
  });

  function watched(page: Page): Page {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => troubles.push(error.message));
    return page;
  }

  const pages: TradePages = {
    get service() {
      return service;
    },
    async newPage(options = {}) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return watched(await context.newPage());
    },
    async newTab() {
      return watched(await contexts.at(-1)!.newPage());
    },
    async openWithThrowaway(url = service.url, options = {}) {
      const page = await pages.newPage(options);
      await page.goto(`${url}/trade`);
      await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
      await page.getByText("Balance 10 SOL").waitFor();
      return page;
    },
    async openWithExtension(conduct = {}, page) {
      const wallet = createTestWallet();
      await service.rpc("requestAirdrop", [wallet.address.toString(), 10e9]);
      const opened = page ?? (await pages.newPage());
      await injectWallet(opened, wallet, conduct);
      await opened.goto(`${service.url}/trade`);
      await opened.getByRole("button", { name: "Test Wallet" }).click();
      return { wallet, page: opened };
    },
  };
  return pages;
}

/** Chooses the token to get: a symbol or a mint. */
export async function get(page: Page, token: string): Promise<void> {
  await page.locator("#out-token").fill(token);
  await page.locator("#out-token").blur();
}

/** Types the amount to pay. */
export const pay = (page: Page, amount: string) => page.getByLabel("You pay", { exact: true }).fill(amount);

/** Waits for the proof of a build that may be signed. */
export const proven = (page: Page) => page.getByText("Every instruction is part of your trade").waitFor();

/** Builds the order as it is typed, up to its proof. */
export async function build(page: Page): Promise<void> {
  await page.locator("#review:enabled").click();
  await proven(page);
}

export const sign = (page: Page) => page.getByRole("button", { name: "Sign and submit" }).click();

export const landed = (page: Page) => page.getByText("The trade landed.").waitFor();

/** Builds, signs and waits until the trade has landed. */
export async function trade(page: Page): Promise<void> {
  await build(page);
  await sign(page);
  await landed(page);
}
