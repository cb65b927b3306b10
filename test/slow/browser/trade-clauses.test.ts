import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startFakeRelay } from "../../support/fake-relay.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";
import { injectWallet } from "./standard-wallet.ts";

const chromium = findChromium();
const NARROW: BrowserContextOptions = { viewport: { width: 360, height: 760 } };

describe.skipIf(chromium === undefined)("what the trade page shows", () => {
  let service: TestService;
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    service = await startTestService();
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => expect(troubles.splice(0)).toEqual([]));

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(25_000);
    page.on("pageerror", (error) => troubles.push(error.message));
    return page;
  }

  async function openWithThrowaway(url = service.url, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await newPage(options);
    await page.goto(`${url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    return page;
  }

  async function get(page: Page, token: string): Promise<void> {
    await page.locator("#out-token").fill(token);
    await page.locator("#out-token").blur();
  }

  const pay = (page: Page, amount: string) => page.getByLabel("You pay", { exact: true }).fill(amount);
  const proven = (page: Page) => page.getByText("Every instruction is part of your trade").waitFor();

  async function land(page: Page): Promise<void> {
    await page.locator("#review:enabled").click();
    await proven(page);
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.getByText("The trade landed.").waitFor();
  }

  it("shows what the wallet holds from a trade's confirmation on, however far its finality is", async () => {
    await service.sandbox.setDelays({ confirmedAfterSlots: 2, finalizedAfterSlots: 1_000 });
    const page = await openWithThrowaway();
    await pay(page, "0.5");
    await page.locator("#review:enabled").click();
    await proven(page);
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.locator("#timeline li", { hasText: /Confirmed/ }).waitFor();
    await page.locator("#out-balance", { hasText: /^Balance [1-9][\d.]* USDC$/ }).waitFor();
    expect(await page.getByText("The trade landed.").count()).toBe(0);
    await service.sandbox.setDelays({ confirmedAfterSlots: 2, finalizedAfterSlots: 32 });
    await page.getByText("The trade landed.").waitFor();
  });

  it("takes shares of the balance, SOL for fees left", async () => {
    const page = await openWithThrowaway();
    for (const [name, amount] of [
      ["25 % of the balance", "2.5"],
      ["50 % of the balance", "5"],
      ["75 % of the balance", "7.5"],
      ["Max of the balance", "9.99"],
    ] as const) {
      await page.getByRole("button", { name }).click();
      expect(await page.locator("#in-amount").inputValue()).toBe(amount);
      await page.locator("#review:enabled").waitFor();
    }
  });

  it("finds a token by symbol or mint, with its balance beside it", async () => {
    const page = await openWithThrowaway();
    await get(page, "ember");
    await pay(page, "0.5");
    await land(page);
    await page.locator("#out-balance", { hasText: /^Balance [1-9].* EMBER$/ }).waitFor();
    const mint = service.mintOn("pump_fun");
    await get(page, mint);
    await page.locator("#out-balance", { hasText: /^Balance 0 / }).waitFor();
    await page.locator("#review:enabled").waitFor();
    expect(await page.locator("#route li").first().textContent()).toContain("pump_fun");
  });

  it("draws the shares of a route whose paths divide the trade", async () => {
    const page = await openWithThrowaway(service.url, NARROW);
    await get(page, "EMBER");
    await pay(page, "3");
    await page.locator("#route meter").nth(1).waitFor();
    const drawn = await page.locator("#route li").evaluateAll((items) =>
      items.map((item) => {
        const meter = item.querySelector("meter")!;
        return { value: meter.value, width: meter.getBoundingClientRect().width, words: item.textContent };
      }),
    );
    for (const { value, width, words } of drawn) {
      expect(value).toBeGreaterThan(0);
      expect(value).toBeLessThan(1);
      expect(width).toBeGreaterThan(30);
      expect(words).toMatch(/^raydium_cpmm, \S+ → \S+?\d+(\.\d+)? %$/);
    }
  });

  it("changes the quote when the market moves, without a touch", async () => {
    const page = await openWithThrowaway();
    const mint = service.mintOn("pump_fun", "KITE");
    await get(page, mint);
    await pay(page, "0.5");
    await page.locator("#review:enabled").waitFor();
    const before = await page.locator("#out-amount").inputValue();
    const other = await service.newClient();
    await other.buy({ mint, solAmount: 5, slippage: 0.5, priority: "fast" });
    other.close();
    await expect
      .poll(async () => Number(await page.locator("#out-amount").inputValue()), { timeout: 30_000 })
      .toBeLessThan(Number(before));
    expect(await page.locator("#in-amount").inputValue()).toBe("0.5");
  });

  it("says before the signature what trades around it could take, and builds without that beyond the limit", async () => {
    const page = await openWithThrowaway(service.url, NARROW);
    await get(page, service.mintOn("pump_swap", "FREE"));
    await pay(page, "5");
    const answering = page.waitForResponse("**/v1/tx/swap");
    await page.locator("#review:enabled").click();
    await proven(page);
    const { estimates, route } = (await (await answering).json()).data;
    const rows = await page.locator("#bounds dt").allTextContents();
    expect(rows.filter((name) => name === "Trades around yours")).toHaveLength(route.length);
    const taken = estimates.worstCase.markets[0];
    expect(taken.attack).toBe("profitable");
    const words = `could take up to ${Number(taken.takenRaw) / 1e9} SOL on pump_swap`;
    await page.locator("#bounds dd", { hasText: words }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);

    await page.getByRole("button", { name: "Back to the order" }).click();
    await page.route("**/v1/tx/swap", (asked) =>
      asked.request().postDataJSON().worstCase === true
        ? asked.fulfill({ status: 429, json: { success: false, error: { code: "RATE_LIMIT_EXCEEDED", message: "" } } })
        : asked.continue(),
    );
    await page.locator("#review:enabled").click();
    await proven(page);
    expect(await page.locator("#bounds dt").allTextContents()).not.toContain("Trades around yours");
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.getByText("The trade landed.").waitFor();
  });

  it("says where nothing but the service's word shows that a token takes no fee when it arrives", async () => {
    const page = await openWithThrowaway(service.url, NARROW);
    for (const [symbol, isMarked] of [
      ["KITE", true],
      ["SPROUT", false],
    ] as const) {
      await get(page, service.mintOn("pump_fun", symbol));
      await pay(page, "0.5");
      await page.locator("#review:enabled").click();
      await proven(page);
      const least = await page.locator('#bounds dt:text-is("Arrives") + dd').textContent();
      expect(least, symbol).toMatch(/^at least \d/);
      expect(least!.endsWith("if the token takes no fee when it arrives, which is the service's word"), symbol).toBe(
        isMarked,
      );
      await page.getByRole("button", { name: "Back to the order" }).click();
    }
  });

  it("shows every sender on the timeline, and what refused", async () => {
    const [good, bad] = [await startFakeRelay(), await startFakeRelay()];
    // Of Jito: the page lets nobody else be tipped.
    const tipAccounts = ["96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"];
    const relays = [
      { name: "open", url: good.url, tipAccounts, levels: { faster: 20_000 } },
      { name: "shut", url: bad.url, tipAccounts, levels: { faster: 20_000 } },
    ];
    const served = await startTestService({ RELAYS: JSON.stringify(relays) });
    try {
      await served.rpc("requestAirdrop", [tipAccounts[0], 1e9]);
      good.forwardTo = served.sandbox.rpcUrl;
      bad.status = 500;
      const page = await openWithThrowaway(served.url);
      await page.getByLabel("Priority").selectOption("faster");
      await pay(page, "0.5");
      await land(page);
      await page.locator("#timeline li", { hasText: /Final$/ }).waitFor();
      const lines = (await page.locator("#timeline li").allTextContents()).map((line) => line.replace(/^\d+ m?s/, ""));
      for (const line of ["Built", "Verified and signed", "Submitted", "Sent to rpc-1", "Sent to open", "Confirmed"])
        expect(lines).toContain(line);
      expect(lines.some((line) => /^shut did not accept it \(.+\); the others go on$/.test(line))).toBe(true);
      expect(lines.some((line) => /^Seen in slot \d+$/.test(line))).toBe(true);
    } finally {
      for (const one of [served, good, bad]) await one.close();
    }
  });

  it("shows the block that a trade was confirmed in, whether it was seen before in another one or in none", async () => {
    for (const seen of [[], [7]]) {
      const page = await openWithThrowaway();
      const events = [...seen.map((slot) => ["processed", slot]), ["confirmed", 8], ["finalized", 8]].map(
        ([kind, slot]) => ({ kind, at: new Date().toISOString(), lane: null, slot, reason: null }),
      );
      await page.route("**/v1/tx/*/events", async (asked) => {
        const answer = await asked.fetch();
        let left = events;
        const body = (await answer.text()).replaceAll(/"events":\[.*?\]/g, () => {
          const told = `"events":${JSON.stringify(left)}`;
          left = [];
          return told;
        });
        await asked.fulfill({ response: answer, body });
      });
      await pay(page, "0.5");
      await land(page);
      await page.locator("#timeline li", { hasText: /Final$/ }).waitFor();
      const lines = (await page.locator("#timeline li").allTextContents()).map((line) => line.replace(/^\d+ m?s/, ""));
      expect(lines.slice(lines.indexOf("Submitted") + 1)).toEqual([
        ...seen.map((slot) => `Seen in slot ${slot}`),
        "Seen in slot 8",
        "Confirmed",
        "Final",
      ]);
    }
  });

  it("names an account that a tip would go to and is not known for it, and pays it only if that is allowed", async () => {
    const relay = await startFakeRelay();
    const account = createTestWallet().address.toString();
    const relays = [{ name: "own", url: relay.url, tipAccounts: [account], levels: { faster: 20_000 } }];
    const served = await startTestService({ RELAYS: JSON.stringify(relays) });
    try {
      await served.rpc("requestAirdrop", [account, 1e9]);
      relay.forwardTo = served.sandbox.rpcUrl;
      const page = await openWithThrowaway(served.url, NARROW);
      await page.getByLabel("Priority").selectOption("faster");
      await pay(page, "0.5");
      await page.locator("#review:enabled").click();
      const verdict = page.locator("#verdict");
      await verdict.getByText(`Not signed: the tip of 0.00002 SOL goes to ${account}`).waitFor();
      expect(await verdict.textContent()).toContain("or go back and choose a priority without a tip.");
      expect(await page.getByRole("button", { name: "Sign and submit" }).isDisabled()).toBe(true);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await page.screenshot({ path: "test/slow/browser/screenshots/trade-tip-narrow-light.png", fullPage: true });

      // Not offered if something else is wrong besides.
      await page.getByRole("button", { name: "Back to the order" }).click();
      await page.route("**/v1/tx/swap", async (asked) => {
        const body = await (await asked.fetch()).json();
        body.data.costs.rentPaid = "900000000";
        await asked.fulfill({ json: body });
      });
      await page.locator("#review:enabled").click();
      await verdict.getByText("of rent, more than that of the accounts it creates").waitFor();
      expect(await page.getByRole("button", { name: "Allow this tip" }).isHidden()).toBe(true);
      await page.unroute("**/v1/tx/swap");

      // The other remedy: a priority without a tip.
      await page.getByRole("button", { name: "Back to the order" }).click();
      await page.getByLabel("Priority").selectOption("fast");
      await page.locator("#review:enabled").click();
      await proven(page);
      expect(await page.getByRole("button", { name: "Allow this tip" }).isHidden()).toBe(true);

      await page.getByRole("button", { name: "Back to the order" }).click();
      await page.getByLabel("Priority").selectOption("faster");
      await page.locator("#review:enabled").click();
      await page.getByRole("button", { name: "Allow this tip" }).click();
      await page.getByText("and nothing else is, with the tip you allowed").waitFor();
      expect(await page.getByRole("button", { name: "Allow this tip" }).isHidden()).toBe(true);
      await page.getByRole("button", { name: "Sign and submit" }).click();
      await page.getByText("The trade landed.").waitFor();
      const { result } = await (
        await fetch(served.sandbox.rpcUrl, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBalance", params: [account] }),
        })
      ).json();
      expect(result.value).toBe(1_000_020_000);
    } finally {
      for (const one of [served, relay]) await one.close();
    }
  });

  it("states how the quote is backed, and what is lost because a better route is too large", async () => {
    const page = await openWithThrowaway(service.url, NARROW);
    const change = (data: { estimates: { fitLoss?: number | null }; proof?: object | null }) => {
      data.estimates.fitLoss = 0.0125;
      data.proof = { checked: true, shadowSlot: 77, programSlot: 5 };
    };
    await page.route("**/v1/tx/swap", async (asked) => {
      const answer = await asked.fetch();
      const body = await answer.json();
      change(body.data);
      await asked.fulfill({ json: body });
    });
    await pay(page, "0.5");
    await page.locator("#review:enabled").click();
    await proven(page);
    const fact = (name: string) => page.locator(`#bounds dt:text-is("${name}") + dd`).textContent();
    expect(await fact("Quote checked")).toBe("on the deployed programs, at slot 77, says the service");
    expect(await fact("Better, but too large")).toBe("a route worth 1.25 % more fits into no transaction");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.unroute("**/v1/tx/swap");
    await page.getByRole("button", { name: "Back to the order" }).click();
    await page.locator("#review:enabled").click();
    await proven(page);
    expect(await fact("Quote checked")).toBe("not by running the programs deployed now");
    expect(await page.locator("#bounds dt").allTextContents()).not.toContain("Better, but too large");
  });

  it("links an explorer if the network has one, and has the wallet sign for that network", async () => {
    const { rpcUrl, wsUrl } = service.sandbox;
    const named = { SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl, SIGN_IN_CHAIN_ID: "devnet" };
    const served = await startTestService(named);
    try {
      const wallet = createTestWallet();
      await service.rpc("requestAirdrop", [wallet.address.toString(), 10e9]);
      const page = await newPage();
      await injectWallet(page, wallet, { chains: ["solana:mainnet", "solana:devnet"] });
      await page.goto(`${served.url}/trade`);
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await page.getByText("Balance 10 SOL").waitFor();
      await get(page, service.mintOn("raydium_cpmm"));
      await pay(page, "0.5");
      await land(page);
      expect(await page.evaluate(() => (window as unknown as { testWalletChain: string }).testWalletChain)).toBe(
        "solana:devnet",
      );
      const signature = await page.locator("#signature code").textContent();
      const link = page.getByRole("link", { name: "Open in an explorer" });
      expect(await link.getAttribute("href")).toBe(`https://explorer.solana.com/tx/${signature}?cluster=devnet`);
    } finally {
      await served.close();
    }
  });
});
