import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { findChromium, launch } from "../browser/browser.ts";
import { injectWallet } from "../browser/standard-wallet.ts";
import type { JudgeLedger } from "./ledger.ts";
import { amountsOf, rawOf } from "./page-amounts.ts";
import { report } from "./table.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { tokenPerVenue } from "./world-trades.ts";

const PART = "trade page";
const SOL_DECIMALS = 9;
/** What the page waits for at most: finality takes 32 slots. Milliseconds. */
const PAGE_PATIENCE_MS = 180_000;

const chromium = findChromium();
if (findValidator() !== undefined && chromium === undefined)
  console.warn("No Chromium: set CHROMIUM to one. The trade page is not run on the validator.");

describe.skipIf(findValidator() === undefined || chromium === undefined)("the trade page on a real validator", () => {
  let bench: ValidatorBench;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    bench = await ValidatorBench.start();
    ({ url } = await bench.startService());
    browser = await launch(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await bench?.close();
  });

  it("buys a token and sells all of it, with a wallet of the browser; the ledger agrees to the lamport", async () => {
    const { tokens } = bench.made.world;
    const { mint, symbol } = tokenPerVenue(bench.made.world)[0]!;
    const { decimals } = tokens.find((token) => token.mint.toString() === mint)!;
    const wallet = createTestWallet();
    const address = wallet.address.toString();
    await bench.ledger.call("requestAirdrop", [address, 10e9]);
    await eventually(async () => {
      if ((await bench.ledger.lamports(address)) === 0n) throw new Error("the airdrop has not landed");
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_PATIENCE_MS);
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(error.message));
    await injectWallet(page, wallet);
    await page.goto(`${url}/trade`);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await page.getByText("Balance 10 SOL").waitFor();
    const judge = (paid: Side, got: Side) => judged(page, bench.ledger, address, paid, got);
    const [sol, token] = [
      { mint: "SOL", decimals: SOL_DECIMALS },
      { mint, decimals },
    ];

    await page.locator("#out-token").fill(mint);
    await page.locator("#out-token").blur();
    await page.getByLabel("You pay", { exact: true }).fill("0.5");
    const bought = await judge(sol, token);
    await page.getByRole("button", { name: "Trade again" }).click();
    await page.getByRole("button", { name: "Swap sides" }).click();
    await page.getByRole("button", { name: "Max of the balance" }).click();
    const sold = await judge(token, sol);
    const left = await bench.ledger.tokens(address, mint);
    const faults = [...bought, ...sold, ...(left === 0n ? [] : [`${left} units are left`]), ...troubles];
    report(PART, `a buy and a sale of ${symbol} in Chromium`, "2 trades exact, to the lamport", faults);
  });
});

/** A mint of a trade, "SOL" for lamports. */
interface Side {
  readonly mint: string;
  readonly decimals: number;
}

/** Trades what stands on the page until it is final. @returns in what the page and the ledger differ */
async function judged(page: Page, ledger: JudgeLedger, address: string, paid: Side, got: Side): Promise<string[]> {
  const held = ({ mint }: Side, slot?: number) => (mint === "SOL" ? 0n : ledger.tokens(address, mint, slot));
  const before = await Promise.all([held(paid), held(got)]);
  await page.locator("#review:enabled").click();
  await page.getByText("Every instruction is part of your trade").waitFor();
  await page.getByRole("button", { name: "Sign and submit" }).click();
  await page.getByText("The trade landed.").waitFor();
  await page.locator("#timeline li", { hasText: /Final$/ }).waitFor();

  const shown = amountsOf(await page.locator("#compare tbody tr").evaluateAll(readCells));
  const signature = await page.locator("#signature code").textContent();
  const record = await ledger.record(signature!);
  if (record === null) return [`no record of ${signature}`];
  const after = await Promise.all([held(paid, record.slot), held(got, record.slot)]);
  const lamports = (name: string) => rawOf(shown.get(name)?.real ?? "0 SOL", SOL_DECIMALS);
  const [input, output] = [
    rawOf(shown.get("Paid")!.real, paid.decimals),
    rawOf(shown.get("Received")!.real, got.decimals),
  ];
  const swapped = (got.mint === "SOL" ? output : 0n) - (paid.mint === "SOL" ? input : 0n);
  const fees = lamports("Network fee") + lamports("Priority fee and tip");
  const costs = fees + lamports("Rent paid") - lamports("Rent returned");
  const { err, fee, preBalances, postBalances } = record.meta;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["error", null, err],
    ["fee", fees, BigInt(fee)],
    ["lamports", swapped - costs, BigInt(postBalances[0]!) - BigInt(preBalances[0]!)],
    ["paid", paid.mint === "SOL" ? 0n : input, before[0]! - after[0]!],
    ["received", got.mint === "SOL" ? 0n : output, after[1]! - before[1]!],
    ...[...shown].map(([name, { estimated, real }]) => [`${name}, estimated`, estimated, real] as const),
  ];
  return pairs.flatMap(([name, said, was]) => (said === was ? [] : [`${name}: the page says ${said}, was ${was}`]));
}

const readCells = (rows: Element[]) =>
  rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? ""));
