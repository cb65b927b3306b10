import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { promisify } from "node:util";
import type { Browser, BrowserContextOptions, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "./browser.ts";
import { injectWallet, type WalletConduct } from "./standard-wallet.ts";

const chromium = findChromium();
if (chromium === undefined) {
  process.stderr.write("No Chromium found (set CHROMIUM to its path): the pages are not tested in a browser.\n");
}

const SHOTS = "test/slow/browser/screenshots";
const FIVE_MINUTES_MS = 300_000;

describe.skipIf(chromium === undefined)("the pages in Chromium", () => {
  let clockMs = 0;
  let service: TestService;
  let mainnet: TestService;
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    service = await startTestService({}, { now: () => Date.now() + clockMs });
    // The same chain under the name of mainnet, for wallets on another network.
    const { rpcUrl, wsUrl } = service.sandbox;
    mainnet = await startTestService({ SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl, SIGN_IN_CHAIN_ID: "mainnet" });
    browser = await launch(chromium!);
  });

  afterAll(async () => {
    await browser?.close();
    await mainnet?.close();
    await service?.close();
  });

  afterEach(() => {
    clockMs = 0;
    expect(troubles.splice(0)).toEqual([]);
  });

  async function open(path: string, options: BrowserContextOptions = {}, url = service.url): Promise<Page> {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], ...options });
    const page = await context.newPage();
    watch(page, url);
    await page.goto(url + path);
    return page;
  }

  /** Notes what no page may do: fail in a script, be stopped by its own policy, ask another host. */
  function watch(page: Page, url: string): void {
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) troubles.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) troubles.push(request.url());
    });
  }

  async function openWith(wallet: TestWallet, conduct: WalletConduct = {}, url = service.url): Promise<Page> {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    watch(page, url);
    await injectWallet(page, wallet, conduct);
    await page.goto(`${url}/register`);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    return page;
  }

  const sign = (page: Page) => page.getByRole("button", { name: "Sign and get a key" }).click();
  const notice = (page: Page) => page.locator("#notice");

  it("registers, builds, signs and submits a trade without leaving the pages", async () => {
    const wallet = createTestWallet();
    await service.rpc("requestAirdrop", [wallet.address.toString(), 5e9]);
    const page = await openWith(wallet);
    await page.getByLabel("Name of the key").fill("from the page");
    await sign(page);
    await page.getByText("Shown only once.").waitFor();
    const key = (await page.locator("#key").textContent())!;
    expect(key).toMatch(/^api_[0-9A-Za-z]{38}$/);
    expect(await page.locator("#curl").textContent()).toContain(`Authorization: Bearer ${key}`);
    await page.getByRole("button", { name: "Copy the key" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await page.getByRole("cell", { name: "from the page", exact: true }).waitFor();
    await page.screenshot({ path: `${SHOTS}/registered.png`, fullPage: true });

    await page.getByRole("link", { name: "Try it in the reference" }).click();
    // The page fills it in once its modules have loaded.
    await expect.poll(() => page.getByLabel("API key", { exact: true }).inputValue()).toBe(key);
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
    const buy = page.locator("#buy");
    await buy.getByText("Try it").click();
    await buy.getByRole("button", { name: "Send" }).click();
    await buy.getByText(/^Status 200/).waitFor();
    const built = JSON.parse((await buy.locator("pre.answer").textContent())!).data;
    await page.screenshot({ path: `${SHOTS}/docs-buy.png` });

    const signed = await page.evaluate(async (unsigned: string) => {
      const { testWallet } = window as unknown as { testWallet: SigningWallet };
      const transaction = Uint8Array.from(atob(unsigned), (character) => character.charCodeAt(0));
      const [{ signedTransaction }] = await testWallet.features["solana:signTransaction"].signTransaction({
        account: testWallet.accounts[0],
        transaction,
      });
      return btoa(String.fromCharCode(...signedTransaction));
    }, built.unsignedTransaction);

    const submit = page.locator("#submit");
    await submit.getByText("Try it").click();
    await submit
      .getByLabel("Body")
      .fill(JSON.stringify({ submissionToken: built.submissionToken, signedTransaction: signed }));
    await submit.getByRole("button", { name: "Send" }).click();
    await submit.getByText(/^Status 200/).waitFor();
    const { data } = JSON.parse((await submit.locator("pre.answer").textContent())!);
    expect(data.status).toBe("confirmed");
    expect(data.tradeResult.outputAmountRaw).toBe(built.estimates.outputAmountRaw);
    await page.context().close();
  });

  it("registers a hardware wallet by a transaction that is never sent", async () => {
    const page = await openWith(createTestWallet(), { hardware: true });
    await sign(page);
    await notice(page).getByText('Tick "Hardware wallet"').waitFor();
    await page.getByLabel("Hardware wallet").check();
    await sign(page);
    await page.getByText("Shown only once.").waitFor();
    expect(await page.locator("#key").textContent()).toMatch(/^api_/);
    await page.context().close();
  });

  it("lists the keys of the account and revokes one, which stops working at once", async () => {
    const page = await openWith(createTestWallet());
    await page.getByLabel("Name of the key").fill("first");
    await sign(page);
    await page.getByRole("cell", { name: "first", exact: true }).waitFor();
    const first = (await page.locator("#key").textContent())!;
    await page.getByLabel("Name of the key").fill("second");
    await sign(page);
    await page.getByRole("cell", { name: "second", exact: true }).waitFor();
    await page.getByRole("button", { name: "Revoke: first" }).click();
    await page.getByText(/^revoked /).waitFor();
    expect((await service.call("/v1/auth/profile", undefined, first)).status).toBe(401);
    await page.reload();
    await page.getByLabel("Any key of the account").fill(first);
    await page.getByRole("button", { name: "List keys" }).click();
    await page.locator("#keys-notice").getByText("has been revoked").waitFor();
    await page.context().close();
  });

  it("reports that the wallet's owner declined, and allows another try", async () => {
    for (const rejects of ["connect", "sign"] as const) {
      const page = await openWith(createTestWallet(), { rejects });
      if (rejects === "sign") await sign(page);
      await notice(page).getByText("The wallet declined").waitFor();
      if (rejects === "sign") {
        expect(await page.getByRole("button", { name: "Sign and get a key" }).isEnabled()).toBe(true);
        await page.screenshot({ path: `${SHOTS}/declined.png`, fullPage: true });
      }
      expect(await page.locator("#result").isVisible()).toBe(false);
      await page.context().close();
    }
  });

  it("refuses a wallet on another network", async () => {
    const page = await openWith(createTestWallet(), { chains: ["solana:devnet"] }, mainnet.url);
    await notice(page).getByText("Test Wallet is on another network: this service trades on mainnet").waitFor();
    expect(await page.getByRole("button", { name: "Sign and get a key" }).isDisabled()).toBe(true);
    await page.context().close();
    const right = await openWith(createTestWallet(), { chains: ["solana:mainnet"] }, mainnet.url);
    await sign(right);
    await right.getByText("Shown only once.").waitFor();
    await right.context().close();
  });

  it("reports a challenge that expired while the wallet was open", async () => {
    const slow = createTestWallet();
    const wallet: TestWallet = {
      address: slow.address,
      sign: (message) => {
        clockMs = FIVE_MINUTES_MS + 1_000;
        return slow.sign(message);
      },
    };
    const page = await openWith(wallet);
    await sign(page);
    await notice(page).getByText("This challenge has expired").waitFor();
    clockMs = 0;
    expect(await page.locator("#result").isVisible()).toBe(false);
    await page.context().close();
  });

  it("shows live status", async () => {
    const page = await open("/");
    await page.getByText("Serving", { exact: true }).waitFor();
    const slot = () => page.locator("#chain dd").nth(1).textContent();
    const before = await slot();
    await expect.poll(slot, { timeout: 10_000 }).not.toBe(before);
    expect(await page.locator("#first").textContent()).toContain("/v1/tx/buy");
    await page.context().close();
  });

  const venueRow = (page: Page, id: string) =>
    page.locator("#venues tr").filter({ has: page.getByRole("rowheader", { name: id }) });

  it("shows each venue's live markets, its last search, and what became of it in the last minutes", async () => {
    const mint = service.mintOn("pump_fun");
    const client = await service.newClient();
    const pair = { inputMint: "SOL", outputMint: mint, slippage: 0 };
    await client.quote({ ...pair, amount: 0.1, swapMode: "exactIn" });
    await client.quote({ ...pair, amount: 1e9, swapMode: "exactOut" }).catch(() => {});
    const built = await client.buildBuy({ mint, solAmount: 0.1, slippage: 0, priority: "fast" });
    await (await service.newClient()).buy({ mint, solAmount: 5, slippage: 0.5, priority: "fast" });
    await client.submit(built.submissionToken, await client.sign(built)).catch(() => {});
    const page = await open("/");
    const pump = venueRow(page, "pump_fun");
    await pump.getByText("ready", { exact: true }).waitFor();
    await pump.getByText(/^searched \d+ s ago$/).waitFor();
    const cell = (label: string) => pump.locator(`td[data-label="${label}"]`);
    for (const label of ["live markets", "quotes", "builds", "landed"])
      expect(await cell(label).textContent(), label).toMatch(/^[1-9]\d*$/);
    expect(await cell("failures").locator("span").allTextContents()).toEqual([
      "1 failed as the price moved",
      "1 refused",
    ]);
    const sizes = { wide: 1280, narrow: 360 };
    for (const [name, width] of Object.entries(sizes)) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 860 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
        await page.screenshot({ path: `${SHOTS}/home-venues-${name}-${colorScheme}.png`, fullPage: true });
      }
    }
    await page.context().close();
    const fresh = await open("/", {}, mainnet.url);
    await fresh.locator("#venues").getByText("not used yet").first().waitFor();
    // The operator keeps figures private there.
    expect(await fresh.locator("#venues td[data-label]").count()).toBe(await fresh.locator("#venues tr").count());
    expect(await fresh.getByRole("columnheader", { name: "Quotes" }).count()).toBe(0);
    await fresh.context().close();
  });

  it("says of a venue without a program on the chain that it is not deployed, and nothing else", async () => {
    const own = await startTestService();
    const page = await open("/", {}, own.url);
    const absent = venueRow(page, "meteora_dlmm");
    // Also of a service that has only just started: it never calls it ready.
    const words = absent.locator(".state");
    await words.waitFor();
    expect(["asking the chain", "not deployed"]).toContain(await words.textContent());
    await absent.getByText("not deployed", { exact: true }).waitFor();
    expect(await absent.textContent()).toBe("meteora_dlmmnot deployed–––––");
    // Those that trade stand together, before these.
    const rows = await page.locator("#venues tr").all();
    const isAbsent = await Promise.all(rows.map(async (row) => (await row.textContent())!.includes("not deployed")));
    expect(isAbsent).toEqual([...isAbsent].sort());
    await page.context().close();
    await own.close();
  });

  it("soon asks again for what the chain has not shown, but not while it is away", async () => {
    const page = await open("/docs");
    await page.clock.install();
    let asked = 0;
    await page.route("**/status.json", async (route) => {
      asked += 1;
      const status = await (await route.fetch()).json();
      const venues = status.venues.map((venue: object) => ({ ...venue, state: "unknown" }));
      await route.fulfill({ json: { ...status, venues } });
    });
    await page.goto(`${service.url}/`);
    await page.getByText("asking the chain").first().waitFor();
    for (let i = 0; i < 100; i++) {
      const before = asked;
      await page.clock.runFor(300);
      if (asked > before) await page.waitForResponse("**/status.json", { timeout: 200 }).catch(() => undefined);
    }
    // Thirty seconds: ten times soon, and every two seconds after that.
    expect(asked).toBeGreaterThan(10);
    expect(asked).toBeLessThan(30);
    await page.context().close();
  });

  it("names three extensions and the command line where no wallet is found", async () => {
    const page = await open("/register", {}, mainnet.url);
    await page.getByText("This service trades on mainnet.").waitFor();
    const words = page.locator("#no-wallet");
    await words.waitFor();
    for (const name of [
      "Phantom",
      "Solflare",
      "Backpack",
      "tradewire wallet new",
      `tradewire register --url ${mainnet.url}`,
    ])
      expect(await words.textContent()).toContain(name);
    // It would run what anybody published under that name.
    expect(await words.textContent()).not.toContain("npx");
    await page.context().close();
    const test = await open("/register");
    await test.getByRole("button", { name: "Throwaway wallet" }).waitFor();
    expect(await test.locator("#no-wallet").isVisible()).toBe(false);
    await test.context().close();
  });

  it("shows the last minutes with a chart for building and landing, unless the operator keeps them private", async () => {
    const client = await service.newClient();
    const mint = service.mintOn("raydium_cpmm");
    await client.buy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fastest" });
    const page = await open("/");
    await page.getByRole("heading", { name: /^The last .*minutes?$/ }).waitFor();
    await page.getByRole("img", { name: /^Building: p50 [\d.]+ (µs|ms|s), p99 [\d.]+ (µs|ms|s)$/ }).waitFor();
    await page.getByRole("img", { name: /^From submit to confirmed: p50 [\d.]+ (µs|ms|s), p99 / }).waitFor();
    const level = page.locator("#levels tr").filter({ has: page.getByText("fastest", { exact: true }) });
    expect(await level.locator("td").first().textContent()).toBe("1");
    expect(await level.locator("td").nth(1).textContent()).toBe("100 %");
    await page.locator("#sender-rates tr").filter({ hasText: "rpc-1" }).waitFor();
    await page.context().close();
    const other = await open("/", {}, mainnet.url);
    await other.getByText("Serving", { exact: true }).waitFor();
    expect(await other.locator("#figures").isVisible()).toBe(false);
    const status = await (await fetch(`${mainnet.url}/status.json`)).json();
    expect([status.recent, status.landing]).toEqual([null, null]);
    await other.context().close();
  });

  it("describes every operation of the document, and sends the reader's input", async () => {
    const page = await open("/docs");
    const document = await (await fetch(`${service.url}/v1/openapi.json`)).json();
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths)
      .flatMap((verbs) => Object.values(verbs))
      .map(({ operationId }) => operationId);
    for (const id of operations) await page.locator(`article#${id}`).waitFor();
    const priority = page.locator("#getPriority");
    await priority.getByText("Try it").click();
    await priority.getByRole("button", { name: "Send" }).click();
    await priority.getByText(/^Status 200/).waitFor();
    expect(JSON.parse((await priority.locator("pre.answer").textContent())!).data.levels).toHaveLength(4);
    await page.context().close();
  });

  it("shows a first build that a shell runs unchanged", async () => {
    const client = await service.newClient();
    const page = await open("/");
    await expect.poll(() => page.locator("#first").textContent()).toContain("curl");
    const command = (await page.locator("#first").textContent())!;
    const env = { PATH: process.env.PATH, API_KEY: client.apiKey };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
    expect(JSON.parse(stdout)).toMatchObject({ success: true });
    await page.context().close();
  });

  it("names every field of an answer, those within others too", async () => {
    const page = await open("/docs");
    await page.locator("#buy").getByText("Response", { exact: true }).click();
    for (const name of ["estimates.otherAmountThresholdRaw", "costs.rentPaid", "route[].venue"]) {
      await page.locator("#buy td code").getByText(name, { exact: true }).waitFor();
    }
    await page.locator("#submit").getByText("Response", { exact: true }).click();
    await page.locator("#submit td code").getByText("tradeResult.outputAmountRaw", { exact: true }).waitFor();
    await page.locator("#submit td").getByText("TradeResult or null", { exact: true }).waitFor();
    expect(await page.locator("#operations").textContent()).not.toContain("`");
    await page.context().close();
  });

  it("shows samples in five languages, one for all operations, by keyboard too", async () => {
    const page = await open("/docs");
    const tabs = page.locator("#buy").getByRole("tab");
    await tabs.first().waitFor();
    expect(await tabs.allTextContents()).toEqual(["curl", "TypeScript", "Python", "Go", "grpcurl"]);
    await tabs.first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe("Python");
    expect(await page.locator("#sell-sample").textContent()).toContain("urllib.request.Request(");
    await page.keyboard.press("End");
    expect(await page.locator("#buy-sample").textContent()).toContain("tradewire.v1.TradeService/Buy");
    expect(await page.locator("#buy-sample").textContent()).toContain('"priority":"PRIORITY_FAST"');
    await page.keyboard.press("ArrowRight");
    expect(await tabs.first().getAttribute("aria-selected")).toBe("true");
    await page.locator("#buy").getByText("Try it").click();
    await page.locator("#buy").getByLabel("Body").fill('{"mint":"mine"}');
    expect(await page.locator("#buy-sample").textContent()).toContain(`-d '{"mint":"mine"}'`);
    await page.context().close();
  });

  it("finds operations, fields and error codes, and an error leads to its row", async () => {
    const page = await open("/docs");
    await page.locator("#buy").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("TX_EXPIRED");
    await page.getByText(/^Found in /).waitFor();
    expect(await page.locator("#errors tbody tr:visible").count()).toBe(1);
    expect(await page.locator("#listKeys").isVisible()).toBe(false);
    await page.keyboard.press("Escape");
    expect(await page.locator("#listKeys").isVisible()).toBe(true);
    await page.locator("#getPriority").waitFor();
    await page.getByLabel("API key", { exact: true }).fill("api_wrong");
    const profile = page.locator("#getProfile");
    await profile.getByText("Try it").click();
    await profile.getByRole("button", { name: "Send" }).click();
    await page.getByLabel(/^Search/).fill("challenge");
    await page.getByLabel(/^Search/).fill("getProfile");
    await profile.getByRole("link", { name: "What AUTH_ERROR means" }).click();
    await expect.poll(() => page.locator("tr#AUTH_ERROR").isVisible()).toBe(true);
    await page.context().close();
  });

  it("trades from the reference with a throwaway wallet, on a screen of 320 pixels too", async () => {
    const page = await open("/docs", { viewport: { width: 320, height: 640 } });
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("A throwaway wallet with 10 SOL").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    const buy = page.locator("#buy");
    await buy.getByText("Try it").click();
    await buy.getByRole("button", { name: "Send" }).click();
    await buy.getByRole("button", { name: "Sign with the throwaway wallet and submit" }).click();
    await expect.poll(() => buy.locator("pre.answer").textContent()).toContain('"status": "confirmed"');
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
    await page.context().close();
  });

  it("submits the same bytes again from the reference after an answer was lost, and builds nothing beside them", async () => {
    const page = await open("/docs");
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("A throwaway wallet with 10 SOL").waitFor();
    const bodies: (string | null)[] = [];
    await page.route("**/v1/tx/submit", async (route) => {
      bodies.push(route.request().postData());
      if (bodies.length > 2) return route.continue();
      // It arrives; its answer does not, or is a proxy's.
      await route.fetch();
      return bodies.length === 1 ? route.abort() : route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" });
    });
    const buy = page.locator("#buy");
    await buy.getByText("Try it").click();
    await buy.getByRole("button", { name: "Send" }).click();
    await buy.getByRole("button", { name: "Sign with the throwaway wallet and submit" }).click();
    for (const _ of ["aborted", "of a proxy"]) {
      await buy.getByText("The trade may have landed all the same").waitFor();
      await buy.getByRole("button", { name: "Submit the same bytes again" }).click();
    }
    await expect.poll(() => buy.locator("pre.answer").textContent()).toContain('"status": ');
    expect(new Set(bodies).size).toBe(1);
    expect(bodies).toHaveLength(3);
    await buy.getByRole("button", { name: "Submit the same bytes again" }).waitFor({ state: "hidden" });
    await page.context().close();
  });

  it("trades from the reference with the wallet of the browser, after its owner refused once", async () => {
    for (const rejects of [true, false]) {
      const wallet = createTestWallet();
      await service.rpc("requestAirdrop", [wallet.address.toString(), 5e9]);
      const page = await openWith(wallet, rejects ? { rejects: "transaction" } : {});
      await sign(page);
      await page.getByRole("link", { name: "Try it in the reference" }).click();
      const buy = page.locator("#buy");
      await buy.getByText("Try it").click();
      await buy.getByRole("button", { name: "Send" }).click();
      await buy.getByRole("button", { name: "Sign with Test Wallet and submit" }).click();
      if (rejects) await buy.getByText("The wallet declined. Nothing has changed.").waitFor();
      else await expect.poll(() => buy.locator("pre.answer").textContent()).toContain('"status": "confirmed"');
      await page.context().close();
    }
  });

  it("lists each trade once, however often it is asked for, and goes on by the terms of its search", async () => {
    const page = await open("/history");
    const asked: URLSearchParams[] = [];
    const held: Route[] = [];
    await page.route("**/v1/tx?*", (route) => {
      asked.push(new URL(route.request().url()).searchParams);
      held.push(route);
    });
    /** Answers what was asked for, the first question last. */
    const answer = async (count: number) => {
      await expect.poll(() => held.length).toBe(count);
      for (const route of held.splice(0).reverse()) {
        const isFirst = !new URL(route.request().url()).searchParams.has("cursor");
        const facts = { platform: "", quoted: null, tradeResult: null, costs: null, failure: null, diagnosis: null };
        const trade = {
          ...facts,
          signature: isFirst ? "new" : "old",
          status: "confirmed",
          submittedAt: "2026-11-28T04:00:00Z",
        };
        const answered = page.waitForResponse(route.request().url());
        await route.fulfill({ json: { success: true, data: { trades: [trade], nextCursor: isFirst ? "c" : null } } });
        await (await answered).finished();
      }
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    };
    await page.getByLabel("API key of the account").fill("api_key");
    const show = page.getByRole("button", { name: "Show", exact: true });
    await show.click();
    await show.click();
    await answer(2);
    expect(await page.locator("#trades tbody tr").count()).toBe(1);
    await page.getByLabel("Status").selectOption({ label: "failed or expired" });
    await page.getByRole("button", { name: "Older trades" }).dblclick();
    await answer(1);
    expect(await page.locator("#trades tbody tr").count()).toBe(2);
    expect(asked.at(-1)!.getAll("status")).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    let csv = "";
    for await (const chunk of await (await download).createReadStream()) csv += chunk;
    expect(csv.match(/^(new|old),/gm)).toEqual(["new,", "old,"]);
    await page.context().close();
  });

  it("shows each trade of the history whole on a screen of 360 pixels, how it ended included", async () => {
    const page = await open("/history", { viewport: { width: 360, height: 740 } });
    const amounts = {
      inputAmount: 0.5,
      outputAmount: 77.945963,
      inputAmountRaw: "500000000",
      outputAmountRaw: "77945963",
    };
    const costs = { baseFee: "5000", priorityFee: "59", tip: "0", rentPaid: "1488440", rentReturned: "0" };
    const trade = {
      signature: "5".repeat(88),
      platform: "raydium_launchlab+raydium_launchlab",
      inputMint: "So11111111111111111111111111111111111111112",
      outputMint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      quoted: amounts,
      tradeResult: amounts,
      costs,
      submittedAt: "2026-11-28T04:00:00Z",
      status: "failed",
      failure: { code: "SLIPPAGE_EXCEEDED", message: "The price moved." },
      diagnosis: null,
    };
    await page.route("**/v1/tx?*", (route) =>
      route.fulfill({ json: { success: true, data: { trades: [trade], nextCursor: null } } }),
    );
    await page.getByLabel("API key of the account").fill("api_key");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    const cells = page.locator("#trades tbody td");
    await expect.poll(() => cells.count()).toBe(6);
    for (const cell of await cells.all()) {
      const { x, width } = (await cell.boundingBox())!;
      expect(x + width, (await cell.textContent())!).toBeLessThanOrEqual(360);
    }
    // Screen readers still find a table, with what each cell is.
    expect(await page.getByRole("cell").count()).toBe(6);
    await page.context().close();
  });

  it("shows times by the clock of the reader, as the search takes them", async () => {
    const page = await open("/history", { timezoneId: "Asia/Tokyo" });
    const asked = page.waitForRequest("**/v1/tx?*");
    const facts = { platform: "", quoted: null, tradeResult: null, costs: null, failure: null, diagnosis: null };
    const trade = { ...facts, signature: "one", status: "confirmed", submittedAt: "2026-11-28T20:00:07Z" };
    await page.route("**/v1/tx?*", (route) =>
      route.fulfill({ json: { success: true, data: { trades: [trade], nextCursor: null } } }),
    );
    await page.getByLabel("API key of the account").fill("api_key");
    await page.getByLabel("Since").fill("2026-11-29T05:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    expect(new URL((await asked).url()).searchParams.get("since")).toBe("2026-11-28T20:00:00.000Z");
    await page.locator("#trades tbody tr", { hasText: "2026-11-29 05:00:07" }).waitFor({ timeout: 10_000 });
    await page.context().close();
  });

  it("serves a browser that stores nothing", async () => {
    const context = await browser.newContext();
    await context.addInitScript(() =>
      Object.defineProperty(window, "sessionStorage", {
        get() {
          throw new DOMException("Access is denied for this document.", "SecurityError");
        },
      }),
    );
    const page = await context.newPage();
    watch(page, service.url);
    await page.goto(`${service.url}/docs`);
    await page.locator("#buy").waitFor();
    await page.goto(`${service.url}/trade`);
    await page.getByRole("button", { name: "Use a throwaway wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await page.waitForURL("**/history");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("Enter a key of the account first.").waitFor();
    await context.close();
  });

  it("says that no wallet was found only after it has looked for one", async () => {
    for (const path of ["/trade", "/register"]) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.route("**/assets/**/*.js", (route) => route.abort());
      await page.goto(service.url + path);
      expect(await page.getByText("No wallet found").isVisible()).toBe(false);
      expect(await page.getByText("load the page again").isVisible()).toBe(true);
      await context.close();
    }
  });

  it("shows the changelog", async () => {
    const page = await open("/changelog");
    await page.getByRole("heading", { name: "Unreleased" }).waitFor();
    expect(await page.locator("main li").count()).toBeGreaterThan(5);
    await page.context().close();
  });

  it("selects text that the browser does not let it copy", async () => {
    const page = await open("/");
    await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await page.reload();
    await expect.poll(() => page.locator("#first").textContent()).toContain("curl");
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Selected. Press Ctrl+C to copy" }).waitFor();
    const selected = await page.evaluate(() => getSelection()!.toString());
    expect(selected).toBe(await page.locator("#first").textContent());
    await page.context().close();
  });

  it("offers wallets before the service has answered, without assuming a network", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    watch(page, service.url);
    await injectWallet(page, createTestWallet());
    let isAway = true;
    await page.route("**/status.json", (route) => (isAway ? route.abort() : route.continue()));
    await page.goto(`${service.url}/register`);
    const button = page.getByRole("button", { name: "Test Wallet" });
    await button.click();
    await notice(page).getByText("The service cannot be reached").waitFor();
    expect(await page.locator("#network").textContent()).not.toContain("trades on");
    isAway = false;
    await button.click();
    await page.getByText("Connected with Test Wallet").waitFor();
    expect(await page.locator("#network").textContent()).toBe("This service trades on localnet.");
    await context.close();
  });

  it("shows which of two wallets is connected", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    watch(page, service.url);
    await injectWallet(page, createTestWallet());
    await page.addInitScript(() => {
      const { testWallet } = window as unknown as { testWallet: object };
      const other = { ...testWallet, name: "Other Wallet" };
      window.addEventListener("wallet-standard:app-ready", (event) =>
        (event as CustomEvent<{ register(wallet: object): void }>).detail.register(other),
      );
    });
    await page.goto(`${service.url}/register`);
    for (const name of ["Test Wallet", "Other Wallet", "Test Wallet"]) {
      await page.getByRole("button", { name }).click();
      await page.getByText(`Connected with ${name}`).waitFor();
    }
    await sign(page);
    await page.getByText("Shown only once.").waitFor();
    await context.close();
  });

  it("explains a key that no header can carry, and an answer that is not the service's", async () => {
    const page = await open("/docs");
    const profile = page.locator("#getProfile");
    await profile.getByText("Try it").click();
    await page.getByLabel("API key", { exact: true }).fill("api_…");
    await profile.getByRole("button", { name: "Send" }).click();
    await profile.getByText("This is not an API key").waitFor();
    await page.getByLabel("API key", { exact: true }).fill("api_wrong");
    await page.route("**/v1/auth/profile", (route) => route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" }));
    await profile.getByRole("button", { name: "Send" }).click();
    await profile.getByText(/^Status 502/).waitFor();
    expect(await profile.locator("pre.answer").textContent()).toBe("<h1>Bad Gateway</h1>");
    await page.context().close();
  });

  it("reports that the service has stopped answering, until it answers again", async () => {
    const page = await open("/");
    await page.getByText("Serving", { exact: true }).waitFor();
    await page.route("**/status.json", (route) => route.abort());
    await page.getByText("No response. Last known state:").waitFor();
    await page.unroute("**/status.json");
    await page.getByText("Serving", { exact: true }).waitFor();
    await page.context().close();
  });

  it("shows the longest codes and names of senders on a screen of 320 pixels", async () => {
    const page = await open("/", { viewport: { width: 320, height: 640 } });
    await page.route("**/status.json", async (route) => {
      const status = await (await route.fetch()).json();
      status.recent.failures = [{ code: "UNSUPPORTED_TOKEN_EXTENSION", count: 1_234_567 }];
      const name = "frankfurt-1.block-engine.example";
      status.landing.senders = [{ name, sample: 12_345, landedShare: 0.9998, refused: 12_345 }];
      await route.fulfill({ json: status });
    });
    await page.reload();
    await page.getByText("UNSUPPORTED_TOKEN_EXTENSION").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    const cards = await page
      .locator("section.card, .card")
      .evaluateAll((all) => all.filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.textContent));
    expect(cards).toEqual([]);
    await page.context().close();
  });

  it("breaks no number of the chain on a screen of 320 pixels", async () => {
    const page = await open("/", { viewport: { width: 320, height: 640 } });
    await page.locator("#chain dd").first().waitFor();
    const broken = await page.locator("#chain dd").evaluateAll((all) =>
      all
        .filter(({ textContent }) => /^[\d,]+$/.test(textContent))
        .filter((number) => {
          const range = document.createRange();
          range.selectNodeContents(number);
          return range.getClientRects().length > 1;
        })
        .map(({ textContent }) => textContent),
    );
    expect(broken).toEqual([]);
    await page.context().close();
  });

  it("leaves as much room below what a card shows as above it", async () => {
    for (const path of ["/", "/trade", "/history", "/register"]) {
      for (const width of [320, 1280]) {
        const page = await open(path, { viewport: { width, height: 800 } });
        await page.waitForLoadState("networkidle");
        const uneven = await page.locator(".card:visible").evaluateAll((cards) =>
          cards.flatMap((card) => {
            // Cards side by side are as high as the highest of them.
            if (card.parentElement?.classList.contains("grid")) return [];
            const shown = [...card.querySelectorAll("*")].map((one) => one.getBoundingClientRect());
            const ends = shown.filter(({ height }) => height > 0).map(({ bottom }) => bottom);
            const below = card.getBoundingClientRect().bottom - Math.max(...ends);
            const padding = Number.parseFloat(getComputedStyle(card).paddingBottom);
            return below > padding + 2 ? [`${card.querySelector("h2")?.textContent}: ${below} px`] : [];
          }),
        );
        expect({ path, width, uneven }).toEqual({ path, width, uneven: [] });
        await page.context().close();
      }
    }
  });

  it("finds each page with a slash behind its path too", async () => {
    for (const path of ["/trade", "/history", "/docs", "/register", "/changelog"]) {
      const page = await open(`${path}/?from=mail`);
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`${path}?from=mail`);
      expect(await page.locator("h1").count()).toBe(1);
      await page.context().close();
    }
  });

  it(
    "fits a screen of 360 pixels, in light and in dark",
    async () => {
      for (const [name, path] of [
        ["home", "/"],
        ["docs", "/docs"],
        ["register", "/register"],
        ["unknown", `/${"nothing".repeat(40)}`],
      ] as const) {
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of [360, 1280]) {
            const page = await open(path, { colorScheme, viewport: { width, height: width === 360 ? 740 : 860 } });
            await page.waitForLoadState("networkidle");
            if (name === "docs") {
              await page.locator("#buy").getByText("Response", { exact: true }).click();
              await page.locator("#buy").getByText("Try it").click();
            }
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
            expect({ name, width, overflow }).toEqual({ name, width, overflow: 0 });
            const clip = name === "docs" ? { clip: { x: 0, y: 0, width, height: 2400 } } : {};
            await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true, ...clip });
            await page.context().close();
          }
        }
      }
    },
    FIVE_MINUTES_MS,
  );

  it("can be used by keyboard and read aloud: every control has a name, every page one heading and a main", async () => {
    for (const path of ["/", "/docs", "/register", "/nothing"]) {
      const page = await open(path);
      await page.waitForLoadState("networkidle");
      expect(await page.locator("h1").count()).toBe(1);
      expect(await page.locator("main").count()).toBe(1);
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("button, a, input, textarea")]
          .filter((control) => {
            const label = control.id === "" ? null : document.querySelector(`label[for="${CSS.escape(control.id)}"]`);
            return !(
              control.getAttribute("aria-label") ??
              label?.textContent ??
              control.closest("label")?.textContent ??
              control.textContent
            )?.trim();
          })
          .map((control) => control.outerHTML),
      );
      expect(nameless).toEqual([]);
      // What has no role of its own may bear no name, and what can be focused needs one.
      expect(await page.locator("pre[tabindex]:not([role][aria-labelledby], [role][aria-label])").count()).toBe(0);
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
      await page.context().close();
    }
  });
});

interface SigningWallet {
  readonly accounts: readonly unknown[];
  readonly features: {
    readonly "solana:signTransaction": {
      signTransaction(input: {
        account: unknown;
        transaction: Uint8Array;
      }): Promise<[{ signedTransaction: Uint8Array }]>;
    };
  };
}
