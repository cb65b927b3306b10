import { mkdirSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";
import { injectWallet } from "./standard-wallet.ts";

const chromium = findChromium();
const SHOTS = "test/slow/browser/screenshots";
const VIEWS: readonly (readonly [string, BrowserContextOptions])[] = [
  ["wide-light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
  ["wide-dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
  ["narrow-light", { viewport: { width: 360, height: 760 }, colorScheme: "light" }],
  ["narrow-dark", { viewport: { width: 360, height: 760 }, colorScheme: "dark" }],
];

describe.skipIf(chromium === undefined)("trading in Chromium", () => {
  let service: TestService;
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    service = await startTestService({ SANDBOX_SLOT_MS: "150" });
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(() => expect(troubles.splice(0)).toEqual([]));

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("console", (message) => {
      if (
        /Content Security Policy|Uncaught|Failed to load/.test(message.text()) &&
        !/40[45]|422|503/.test(message.text())
      )
        troubles.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(service.url) && !/^(data|blob):/.test(url)) troubles.push(url);
    });
    return page;
  }

  const overflow = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const shoot = async (page: Page, name: string) => {
    expect(await overflow(page), name).toBeLessThanOrEqual(0);
    await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  };

  /** Orders, verifies and signs with what stands on the page, until the trade is final. */
  async function trade(page: Page): Promise<void> {
    await page.locator("#review:enabled").click();
    await page.getByText("Every instruction is part of your trade").waitFor();
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.getByText("The trade landed.").waitFor();
    await page.locator("#timeline li", { hasText: /Final$/ }).waitFor();
  }

  it.each(VIEWS)("a throwaway wallet trades without an extension: %s", async (name, view) => {
    const page = await newPage(view);
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).waitFor();
    await shoot(page, `trade-start-${name}`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.getByText("Worst outcome at").waitFor();
    await shoot(page, `trade-quote-${name}`);
    const labels = await page.locator("#quote-facts dt").evaluateAll((all) =>
      all.map((label) => {
        const range = document.createRange();
        range.selectNodeContents(label);
        return range.getClientRects().length;
      }),
    );
    expect(labels.length).toBeGreaterThan(4);
    expect(new Set(labels), "lines that each label takes").toEqual(new Set([1]));
    await page.locator("#review:enabled").click();
    await page.getByText("Every instruction is part of your trade").waitFor();
    await shoot(page, `trade-proof-${name}`);
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.getByText("The trade landed.").waitFor();
    const rows = await page.locator("#compare tbody tr").allTextContents();
    expect(rows[0]).toBe("Paid0.5 SOL0.5 SOL");
    await shoot(page, `trade-result-${name}`);
    await page.getByRole("button", { name: "History" }).click();
    await page.getByText("as promised", { exact: true }).waitFor();
    await shoot(page, `history-${name}`);
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
  });

  it.each(VIEWS)(
    "shows long numbers whole, and says what cannot be traded before anything is built: %s",
    async (_, view) => {
      const page = await newPage(view);
      await page.goto(`${service.url}/trade`);
      await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
      await page.getByText("Balance 10 SOL").waitFor();
      const paid = page.getByLabel("You pay", { exact: true });
      await paid.fill("99999999");
      await page.getByText("The wallet holds 10 SOL: less than this trade takes.").waitFor();
      await paid.fill("0.123456789");
      await page.getByText("Worst outcome at").waitFor();
      await page.getByText("less than this trade takes").waitFor({ state: "detached" });
      const clipped = await paid.evaluate((input: HTMLInputElement) => input.scrollWidth - input.clientWidth);
      expect(clipped).toBeLessThanOrEqual(0);
      await trade(page);
      /** Lines that each number of the table takes. */
      const lines = await page.locator("#compare td:not(:first-child)").evaluateAll((cells) =>
        cells.map((cell) => {
          const text = cell.firstChild as Text;
          const range = document.createRange();
          range.setStart(text, 0);
          range.setEnd(text, text.data.indexOf(" "));
          return range.getClientRects().length;
        }),
      );
      expect(lines.length).toBeGreaterThan(5);
      expect(new Set(lines)).toEqual(new Set([1]));
      const got = page.locator("#out-token");
      await got.fill("NOPE");
      await got.blur();
      await page.getByText("NOPE is neither a symbol listed here nor a mint address.").waitFor();
      expect(await page.locator("#out-balance").textContent()).toBe("");
    },
  );

  it("revokes its key when the wallet disconnects, after the trade on its way", async () => {
    const page = await newPage();
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").click();
    await page.getByText("Every instruction is part of your trade").waitFor();
    const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
    await page.getByRole("button", { name: "Sign and submit" }).click();
    await page.locator("#timeline li", { hasText: /Submitted/ }).waitFor();
    await page.getByRole("button", { name: "Disconnect" }).click();
    const answer = await revoked;
    expect(answer.ok()).toBe(true);
    expect(await page.locator("#outcome").textContent()).toBe("The trade landed.");
    const { authorization } = await answer.request().allHeaders();
    const profile = await fetch(`${service.url}/v1/auth/profile`, { headers: { authorization: authorization! } });
    expect(profile.status).toBe(401);
  });

  it("sells it back with exact output and by percent, and exports the history", async () => {
    const page = await newPage();
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    // Typing into the other side makes that one exact.
    await page.getByLabel("You get", { exact: true }).fill("1");
    await page.getByText("at most").waitFor();
    await trade(page);
    expect((await page.locator("#compare tbody tr").allTextContents())[1]).toMatch(/^Received1 (\S+)1 \1$/);
    await page.getByRole("button", { name: "Trade again" }).click();
    await page.getByRole("button", { name: "Swap sides" }).click();
    await page.getByRole("button", { name: "Max of the balance" }).click();
    await trade(page);
    await page.getByRole("button", { name: "History" }).click();
    await page.getByText("as promised", { exact: true }).nth(1).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const stream = await (await download).createReadStream();
    let csv = "";
    for await (const chunk of stream) csv += chunk;
    const lines = csv.trimEnd().split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]!.startsWith("signature,status,submittedAt")).toBe(true);
    for (const line of lines) expect(line.split(",")).toHaveLength(lines[0]!.split(",").length);
  });

  it("trades by keyboard alone, and shows the focus", async () => {
    const page = await newPage();
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).waitFor();
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        return { name: at.id || at.textContent!.trim(), isSeen: outlineStyle !== "none" && outlineWidth !== "0px" };
      });
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press("Tab");
        const at = await focused();
        expect(at.isSeen, at.name).toBe(true);
        if (at.name === name) return;
      }
      throw new Error(`Tab does not reach ${name}`);
    };
    await tabTo("Use a throwaway wallet");
    await page.keyboard.press("Enter");
    await page.getByText("Balance 10 SOL").waitFor();
    expect((await focused()).name).toBe("in-amount");
    await page.keyboard.type("0.5");
    await page.locator("#review:enabled").waitFor();
    await tabTo("priority");
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("#priority").inputValue()).toBe("faster");
    await page.locator("#review:enabled").waitFor();
    await tabTo("review");
    await page.keyboard.press("Enter");
    await page.getByText("Every instruction is part of your trade").waitFor();
    expect((await focused()).name).toBe("proof");
    await tabTo("sign");
    await page.keyboard.press("Enter");
    await page.getByText("The trade landed.").waitFor();
    await tabTo("again");
    await page.keyboard.press("Enter");
    expect((await focused()).name).toBe("in-amount");
  });

  it("a registered throwaway wallet is funded, and its key works elsewhere", async () => {
    const page = await newPage();
    await page.goto(`${service.url}/register`);
    await page.getByRole("button", { name: "Throwaway wallet" }).click();
    await page.getByText("It holds 10 SOL of this test chain").waitFor();
    await page.getByRole("button", { name: "Sign and get a key" }).click();
    await page.getByText("Shown only once.").waitFor();
    const [apiKey, wallet] = [
      await page.locator("#key").textContent(),
      await page.locator("#secret-key").textContent(),
    ];
    const client = Tradewire.connect({ baseUrl: service.url, apiKey: apiKey!, wallet: wallet! });
    const mint = service.mintOn("raydium_cpmm");
    expect((await client.buy({ mint, solAmount: 1, slippage: 0.05, priority: "fast" })).status).toBe("confirmed");
    client.close();
  });

  it("a wallet extension trades; a refusal by its owner and an empty wallet say what to do", async () => {
    const wallet = createTestWallet();
    const page = await newPage();
    await injectWallet(page, wallet);
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await page.getByText("Balance 0 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").click();
    await page.locator("#order-notice", { hasText: wallet.address.toString() }).waitFor();
    await page.getByRole("button", { name: "Get 10 test SOL" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await trade(page);
  });

  it("signs nothing that the service built wrong", async () => {
    const page = await newPage();
    await page.route("**/v1/tx/swap", async (route) => {
      const answer = await (await route.fetch()).json();
      const wire = Buffer.from(answer.data.unsignedTransaction, "base64");
      // Another account in place of one of the message's.
      wire[65 + 4 + 32] = wire[65 + 4 + 32]! ^ 1;
      await route.fulfill({
        json: { ...answer, data: { ...answer.data, unsignedTransaction: wire.toString("base64") } },
      });
    });
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    await page.locator("#review:enabled").click();
    await page.getByText("Not signed:").waitFor();
    expect(await page.getByRole("button", { name: "Sign and submit" }).isDisabled()).toBe(true);
    expect(await page.locator("#lines li.bad").count()).toBeGreaterThan(0);
  });
});
