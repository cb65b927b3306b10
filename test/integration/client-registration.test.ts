import { expect, test } from "vitest";
import { checkChallenge } from "../../src/client/registration.ts";
import { HOSTILE, NOW, text, WALLET } from "../support/challenges.ts";

const PAGE_MODULE = new URL("../../src/api/pages/shared/challenge.js", import.meta.url).href;
const { checkChallenge: checkOnPage } = (await import(PAGE_MODULE)) as {
  checkChallenge(message: string, wallet: string, site: { host: string; origin: string }, nowMs: number): void;
};

const TERMS = { walletAddress: WALLET, baseUrl: "https://trade.example", nowMs: NOW };
const PAGE = { host: "trade.example", origin: "https://trade.example" };

test("the service's own challenge is signed, at every name of the same host", () => {
  checkChallenge(text(), TERMS);
  checkChallenge(text({ uri: "https://trade.example/" }), { ...TERMS, baseUrl: "https://trade.example:443/" });
  const local = text({ domain: "localhost:8080", uri: "http://localhost:8080" });
  checkChallenge(local, { ...TERMS, baseUrl: "http://127.0.0.1:8080" });
  checkChallenge(text(), { ...TERMS, baseUrl: "http://10.0.0.7:8080", domain: "trade.example" });
  checkOnPage(text(), WALLET, PAGE, NOW);
  checkOnPage(local, WALLET, { host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080" }, NOW + 60_000);
});

test("nothing else is signed, by the library or on the page", () => {
  expect(Object.keys(HOSTILE).length).toBeGreaterThanOrEqual(40);
  for (const [name, message] of Object.entries(HOSTILE)) {
    expect(() => checkChallenge(message, TERMS), name).toThrow("Nothing was signed");
    expect(() => checkOnPage(message, WALLET, PAGE, NOW), name).toThrow("does not let you sign");
  }
});
