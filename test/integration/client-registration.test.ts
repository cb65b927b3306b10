import { expect, test } from "vitest";
import { checkChallenge } from "../../src/client/registration.ts";
import { CHALLENGES, HOSTILE, NOW, text, WALLET } from "../support/challenges.ts";

const PAGE_MODULE = new URL("../../src/api/pages/shared/challenge.js", import.meta.url).href;
const { checkChallenge: checkOnPage } = (await import(PAGE_MODULE)) as {
  checkChallenge(message: string, wallet: string, site: { host: string; origin: string }, nowMs: number): void;
};

const PAGE = { host: "trade.example", origin: "https://trade.example" };

test("the service's own challenge is signed, at every name of the same host, and nothing else", () => {
  for (const { name, message, wallet, baseUrl, domain, nowMs, isSigned } of CHALLENGES) {
    const terms = { walletAddress: wallet, baseUrl, domain: domain || undefined, nowMs };
    if (isSigned) checkChallenge(message, terms);
    else expect(() => checkChallenge(message, terms), name).toThrow("Nothing was signed");
  }
  const local = text({ domain: "localhost:8080", uri: "http://localhost:8080" });
  checkOnPage(text(), WALLET, PAGE, NOW);
  checkOnPage(local, WALLET, { host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080" }, NOW + 60_000);
});

test("nothing else is signed on the page", () => {
  expect(Object.keys(HOSTILE).length).toBeGreaterThanOrEqual(40);
  for (const [name, message] of Object.entries(HOSTILE)) {
    expect(() => checkOnPage(message, WALLET, PAGE, NOW), name).toThrow("does not let you sign");
  }
});
