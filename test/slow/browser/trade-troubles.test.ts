import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { startTestService } from "../../support/service.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium } from "./browser.ts";
import { injectWallet } from "./standard-wallet.ts";
import { sign, useTradePages } from "./trade-pages.ts";

const chromium = findChromium();

describe.skipIf(chromium === undefined)("trading in Chromium when something goes wrong", () => {
  const pages = useTradePages({ SANDBOX_SLOT_MS: "150" });

  const overflow = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

  /** Orders half a SOL's worth with the connected wallet, up to the proof. */
  async function build(page: Page): Promise<void> {
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").click();
    await page.getByText("Every instruction is part of your trade").waitFor();
  }

  async function buildWithThrowaway(page: Page): Promise<void> {
    await page.goto(`${pages.service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await build(page);
  }

  const stored = (page: Page) => page.evaluate(() => sessionStorage.length + localStorage.length);

  async function lands(page: Page): Promise<void> {
    await page.getByText("The trade landed.").waitFor();
    expect((await page.locator("#compare tbody tr").allTextContents())[0]).toBe("Paid0.5 SOL0.5 SOL");
    expect(await stored(page)).toBe(0);
  }

  it("finds a trade again after a reload, follows it to its end and gives up the key", async () => {
    const page = await pages.newPage();
    await buildWithThrowaway(page);
    await sign(page);
    await page.locator("#timeline li", { hasText: "Submitted" }).waitFor();
    const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
    await page.reload();
    await page.getByText("Found again: submitted by this tab before").waitFor();
    // While the page is there, no key is stored.
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("api_");
    await lands(page);
    expect((await revoked).ok()).toBe(true);
  });

  it("submits again what a reload had cut off before the service had it", async () => {
    const page = await pages.newPage();
    await page.route("**/v1/tx/submit", (route) => route.abort());
    await buildWithThrowaway(page);
    await sign(page);
    await page.getByText("Not decided: The service cannot be reached.").waitFor();
    await page.unroute("**/v1/tx/submit");
    await page.reload();
    await lands(page);
  });

  it("asks for the wallet if no key was left, and follows the trade with it", async () => {
    const { page, wallet } = await pages.openWithExtension();
    await build(page);
    await page.route("**/v1/tx/submit", (route) => route.abort());
    await sign(page);
    await page.getByText("Not decided:").waitFor();
    const kept = await page.evaluate(() => sessionStorage.getItem("tradewire-trade")!);
    const other = await pages.newTab();
    await injectWallet(other, wallet);
    await other.addInitScript((text) => {
      if (!sessionStorage.getItem("seen")) sessionStorage.setItem("tradewire-trade", text);
      sessionStorage.setItem("seen", "1");
    }, kept);
    await other.goto(`${pages.service.url}/trade`);
    await other.getByText(`This tab submitted a trade of ${wallet.address}`).waitFor();
    await other.getByRole("button", { name: "Test Wallet" }).click();
    await other.getByText("The trade landed.").waitFor();
  });

  it("asks on until the service answers again", async () => {
    const page = await pages.newPage();
    let refusals = 0;
    await page.route("**/v1/tx/submit", (route) => {
      refusals++;
      if (refusals === 1) return route.abort();
      if (refusals === 2) return route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" });
      return route.continue();
    });
    await buildWithThrowaway(page);
    await sign(page);
    await page.getByText("The trade may land all the same; this page asks again.").waitFor();
    await lands(page);
    expect(refusals).toBe(3);
  });

  it("asks on after a fault of the service, which says nothing of the trade", async () => {
    const page = await pages.newPage();
    let submits = 0;
    await page.route("**/v1/tx/submit", async (route) => {
      submits++;
      if (submits > 1) return route.continue();
      // It arrives and lands; then the service fails.
      await route.fetch();
      const error = { code: "INTERNAL_ERROR", message: "Internal error.", retryable: false, safeToRebuild: false };
      return route.fulfill({ status: 500, json: { success: false, error } });
    });
    await buildWithThrowaway(page);
    await sign(page);
    await page.getByText("Not decided: Internal error. The trade may land all the same").waitFor();
    await lands(page);
    expect(submits).toBe(2);
  });

  it("says so when the wallet's owner refuses the transaction, and lets them sign after all", async () => {
    const { page } = await pages.openWithExtension({ rejects: "transaction" });
    await build(page);
    await sign(page);
    await page.locator("#verdict", { hasText: "The wallet declined. Nothing has changed." }).waitFor();
    expect(await page.getByRole("button", { name: "Sign and submit" }).isEnabled()).toBe(true);
    expect(await stored(page)).toBe(0);
  });

  it("submits nothing that a wallet signed after it had disconnected, or switched to another account", async () => {
    for (const change of [{ accounts: [] }, { accounts: [{ address: createTestWallet().address.toString() }] }]) {
      const { page } = await pages.openWithExtension({ holds: true });
      const submits: string[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith("/v1/tx/submit")) submits.push(request.url());
      });
      await build(page);
      await sign(page);
      await page.getByText("Waiting for Test Wallet to sign").waitFor();
      await page.evaluate((changed) => (window as unknown as WalletControls).testWalletChange(changed), change);
      await page.locator("#wallet-notice", { hasText: /Test Wallet has (disconnected|switched)/ }).waitFor();
      await page.evaluate(() => (window as unknown as WalletControls).testWalletRelease());
      await page.getByText("The wallet was disconnected while it signed: nothing was submitted.").waitFor();
      expect(submits).toEqual([]);
      expect(await page.locator("#proof").isVisible()).toBe(false);
    }
  });

  it("signs in with a wallet that signs no texts", async () => {
    const { page } = await pages.openWithExtension({ hardware: true });
    await build(page);
    await sign(page);
    await lands(page);
  });

  it("keeps the wallet that signed in first, and no key of one that does later", async () => {
    const page = await pages.newPage();
    await injectWallet(page, createTestWallet());
    await page.addInitScript(() => {
      const shared = window as unknown as { testWallet: InjectedWallet; letSlowSign: () => void };
      const { testWallet } = shared;
      const released = new Promise<void>((resolve) => {
        shared.letSlowSign = resolve;
      });
      const { signMessage } = testWallet.features["solana:signMessage"];
      const slow = async (...inputs: object[]) => {
        await released;
        return signMessage(...inputs);
      };
      const features = { ...testWallet.features, "solana:signMessage": { version: "1.0.0", signMessage: slow } };
      window.addEventListener("wallet-standard:app-ready", (event) =>
        (event as CustomEvent<{ register(wallet: object): void }>).detail.register({
          ...testWallet,
          name: "Slow Wallet",
          features,
        }),
      );
    });
    await page.goto(`${pages.service.url}/trade`);
    await page.getByRole("button", { name: "Slow Wallet" }).click();
    await page.getByText("Waiting for Slow Wallet").waitFor();
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await page.getByText("Balance 0 SOL").waitFor();
    const revoked = page.waitForRequest((request) => request.method() === "DELETE", { timeout: 10_000 });
    await page.evaluate(() => (window as unknown as { letSlowSign(): void }).letSlowSign());
    await revoked;
    expect(await page.locator("#wallet-name").textContent()).toBe("Test Wallet");
  });

  it("takes no signature for a build that has expired", async () => {
    const page = await pages.newPage();
    await page.route("**/v1/tx/swap", async (route) => {
      const answer = await (await route.fetch()).json();
      const expiresAt = new Date(Date.now() - 5_000).toISOString();
      await route.fulfill({ json: { ...answer, data: { ...answer.data, expiresAt } } });
    });
    await page.goto(`${pages.service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").click();
    await page.getByText("This build has expired").waitFor();
    expect(await page.getByRole("button", { name: "Sign and submit" }).isDisabled()).toBe(true);
    await page.unroute("**/v1/tx/swap");
    await page.getByRole("button", { name: "Back to the order" }).click();
    await build(page);
    await sign(page);
    await lands(page);
  });

  it("says until when to sign by the clock of the reader, however wrong it is", async () => {
    const page = await pages.newPage();
    await page.addInitScript(() => {
      const now = Date.now;
      Date.now = () => now() - 3_600_000;
    });
    await buildWithThrowaway(page);
    const [verdict, soon] = await page.evaluate(() => [
      document.querySelector("#verdict")!.textContent,
      Array.from({ length: 40 }, (_, index) => new Date(Date.now() + 1_000 * (index - 5)).toLocaleTimeString()),
    ]);
    expect(soon).toContain(/Sign before (.+)\.$/.exec(verdict!)![1]);
    await sign(page);
    await lands(page);
  });

  it("marks a price that it cannot follow, and follows it again", async () => {
    const page = await pages.newPage();
    await page.goto(`${pages.service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").waitFor();
    await page.context().setOffline(true);
    // A stream of its own that is open already may live on: a new order needs another.
    await page.getByLabel("Slippage, %").fill("2");
    await page.locator("#order-notice", { hasText: "The service cannot be reached." }).waitFor();
    expect(await page.locator("#review").isDisabled()).toBe(true);
    await page.context().setOffline(false);
    await page.locator("#review:enabled").waitFor();
    expect(await page.locator("#order-notice").textContent()).toBe("");
  });

  it("says that the price of an order is not followed while its build is looked at", async () => {
    const page = await pages.newPage();
    await buildWithThrowaway(page);
    const marked = () => page.locator("#quote").evaluate((quote) => getComputedStyle(quote, "::before").content);
    expect(await marked()).toContain("not followed");
    await page.getByRole("button", { name: "Back to the order" }).click();
    await page.locator("#review:enabled").waitFor();
    expect(await marked()).toBe("none");
  });

  it("trades in two tabs at once with one wallet", async () => {
    const { page, wallet } = await pages.openWithExtension();
    const other = await pages.newTab();
    await injectWallet(other, wallet);
    await other.goto(`${pages.service.url}/trade`);
    await other.getByRole("button", { name: "Test Wallet" }).click();
    await Promise.all([page, other].map(build));
    await Promise.all([page, other].map(sign));
    await Promise.all([page, other].map(lands));
  });

  it("can be left for the history and come back to", async () => {
    const page = await pages.newPage();
    await buildWithThrowaway(page);
    await sign(page);
    await page.locator("#timeline li", { hasText: "Submitted" }).waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByText("as promised", { exact: true }).waitFor();
    await page.goBack();
    await lands(page);
    await page.getByRole("button", { name: "Trade again" }).click();
    const offered = page.getByRole("button", { name: "Use a throwaway wallet" });
    if (await offered.isVisible()) await offered.click();
    await page.getByLabel("You pay", { exact: true }).fill("0.25");
    await page.locator("#review:enabled").waitFor();
  });

  it("trades over a slow network, zoomed to 200 %, without motion", async () => {
    const page = await pages.newPage({
      viewport: { width: 640, height: 450 },
      deviceScaleFactor: 2,
      reducedMotion: "reduce",
    });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 400,
      downloadThroughput: 50_000,
      uploadThroughput: 20_000,
    });
    await buildWithThrowaway(page);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe("auto");
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await sign(page);
    await lands(page);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  it("names the trouble of a service whose node is down", async () => {
    const chain = await startTestService({ SANDBOX_SLOT_MS: "150" });
    const { rpcUrl, wsUrl } = chain.sandbox;
    const served = await startTestService({
      ...{ SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl, SIGN_IN_CHAIN_ID: "localnet" },
      ...{ STATE_MAX_AGE_MS: "2000", BLOCKHASH_MAX_AGE_MS: "4000", SOLANA_RPC_TIMEOUT_MS: "2000" },
    });
    try {
      const wallet = createTestWallet();
      await chain.rpc("requestAirdrop", [wallet.address.toString(), 10e9]);
      const page = await pages.newPage();
      await injectWallet(page, wallet);
      await page.goto(`${served.url}/trade`);
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await page.getByText("Balance 10 SOL").waitFor();
      await page.getByLabel("You get", { exact: true }).waitFor();
      await page.locator("#out-token").fill(chain.mintOn("raydium_cpmm"));
      await page.locator("#out-token").blur();
      await page.getByLabel("You pay", { exact: true }).fill("0.5");
      await page.locator("#review:enabled").waitFor();
      await chain.close();
      await page.getByLabel("You pay", { exact: true }).fill("0.6");
      await page.locator("#order-notice", { hasText: /(?=.*[a-z]).{20,}/ }).waitFor();
      expect(await page.locator("#review").isDisabled()).toBe(true);
      expect(await page.locator("#order-notice").textContent()).not.toMatch(/undefined|127\.0\.0\.1|INTERNAL/);
      process.stdout.write(`node down: ${await page.locator("#order-notice").textContent()}\n`);
    } finally {
      await served.close();
    }
  });
});

interface InjectedWallet {
  readonly features: {
    readonly "solana:signMessage": { signMessage(...inputs: object[]): Promise<object[]> };
  };
}

interface WalletControls {
  testWalletChange(change: object): void;
  testWalletRelease(): void;
}
