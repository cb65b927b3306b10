import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import bs58 from "bs58";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainDefinition } from "../../../scripts/plain-definition.ts";
import type { Trade } from "../../../src/client/trade.ts";
import { toWallet } from "../../../src/client/wallet.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const CHROMIUM = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));

interface BrowserTrades {
  readonly bought: Trade;
  readonly sold: Trade;
  readonly refused: string;
  readonly last: string;
}

let pages: Server;
let service: TestService;
let browser: Browser;

/** Nothing but the page's own scripts and calls of the service: no text is run as code. */
const policyOf = (url: string) =>
  `default-src 'none'; script-src 'self'; connect-src ${url}; require-trusted-types-for 'script'`;

/** Bundles the browser entry into a page of another origin than the service's, under a strict policy. */
async function servePage(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: 'import * as tradewire from "./src/client/entry/tradewire.ts"; globalThis.tradewire = tradewire;',
      resolveDir: resolve(import.meta.dirname, "../../.."),
    },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    plugins: [plainDefinition],
  });
  pages = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.setHeader("content-security-policy", policyOf(service.url));
    response.end(isScript ? outputFiles[0]!.contents : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
}

describe.runIf(CHROMIUM !== undefined)(
  CHROMIUM === undefined ? "in Chromium (not run: none is installed here)" : "in Chromium",
  () => {
    let origin: string;
    beforeAll(async () => {
      origin = await servePage();
      service = await startTestService({ CORS_ORIGINS: origin });
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: ["--no-sandbox"] });
    });
    afterAll(async () => {
      await browser?.close();
      await service?.close();
      pages?.close();
    });

    test("a page of another origin registers, buys, watches and sells everything", async () => {
      const key = bs58.encode(crypto.getRandomValues(new Uint8Array(32)));
      await service.rpc("requestAirdrop", [toWallet(key).publicKey.toString(), 5e9]);
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => void (/policy|trusted/i.test(message.text()) && complaints.push(message.text())));
      await page.goto(origin);
      await page.waitForFunction("globalThis.tradewire !== undefined");
      const script = `(async ({ url, key, mint }) => {
        const { Tradewire, fromBase58 } = globalThis.tradewire;
        const client = Tradewire.connect({ baseUrl: url, wallet: fromBase58(key) });
        await client.register();
        const terms = { mint, slippage: 0.05, priority: "fast" };
        const bought = await client.buy({ ...terms, solAmount: 0.1 }, { maxPriceImpact: 0.1, maxPriorityCost: 0.01 });
        const seen = [];
        for await (const { status } of client.watchTrade(bought.signature)) seen.push(status);
        const sold = await client.sell({ ...terms, sellPercent: 100 }, { maxInputRaw: "1000000000000000000" });
        const refused = await client.buy({ ...terms, solAmount: 1000 }).catch((error) => error.code);
        await client.ping();
        client.close();
        return { bought, sold, refused, last: seen.at(-1) };
      })(${JSON.stringify({ url: service.url, key, mint: service.mintOn("raydium_cpmm", "EMBER") })})`;
      const { bought, sold, refused, last } = (await page.evaluate(script)) as BrowserTrades;
      expect(bought).toMatchObject({ status: "confirmed", tradeResult: { inputAmountRaw: "100000000" } });
      expect(last).toBe("finalized");
      expect(sold.tradeResult).toMatchObject({
        inputAmountRaw: bought.tradeResult?.outputAmountRaw,
      });
      expect(refused).toBe("INSUFFICIENT_SOL");
      expect(complaints).toEqual([]);
    });
  },
);
