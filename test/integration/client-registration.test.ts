import { expect, test } from "vitest";
import { checkChallenge } from "../../src/client/registration.ts";

const PAGE_MODULE = new URL("../../src/api/pages/shared/challenge.js", import.meta.url).href;
const { checkChallenge: checkOnPage } = (await import(PAGE_MODULE)) as {
  checkChallenge(message: string, wallet: string, site: { host: string; origin: string }, nowMs: number): void;
};

const WALLET = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const NOW = Date.parse("2026-11-22T12:00:00.000Z");
const text = (
  changes: Partial<Record<"domain" | "wallet" | "statement" | "uri" | "issued" | "expires", string>> = {},
) =>
  [
    `${changes.domain ?? "trade.example"} wants you to sign in with your Solana account:`,
    changes.wallet ?? WALLET,
    "",
    changes.statement ??
      "Sign to prove this wallet is yours and receive an API key. This moves no funds and costs nothing.",
    "",
    `URI: ${changes.uri ?? "https://trade.example"}`,
    "Version: 1",
    "Chain ID: mainnet",
    "Nonce: 0123456789abcdef0123456789abcdef",
    `Issued At: ${changes.issued ?? "2026-11-22T12:00:00.000Z"}`,
    `Expiration Time: ${changes.expires ?? "2026-11-22T12:05:00.000Z"}`,
  ].join("\n");

/** Texts that a hostile service may send in place of its challenge, each with what signing it would give away. */
const HOSTILE: Readonly<Record<string, string>> = {
  "a login at a bank": text({ domain: "app.bank.example" }),
  "a login at a bank, with the service's URI": text({ domain: "app.bank.example" }),
  "the challenge of another Tradewire, relayed": text({ domain: "other.example", uri: "https://other.example" }),
  "the service's domain with a bank's URI": text({ uri: "https://app.bank.example" }),
  "a URI with a path": text({ uri: "https://trade.example/login?next=//bank.example" }),
  "a URI with a user": text({ uri: "https://trade.example@bank.example" }),
  "a URI without encryption": text({ uri: "http://trade.example" }),
  "another port": text({ domain: "trade.example:8443", uri: "https://trade.example:8443" }),
  "a domain that ends alike": text({ domain: "eviltrade.example", uri: "https://eviltrade.example" }),
  "a domain with a trailing dot": text({ domain: "trade.example.", uri: "https://trade.example." }),
  "a domain in Cyrillic": text({ domain: "trаde.example" }),
  "another wallet": text({ wallet: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T" }),
  "another statement": text({ statement: "I agree to transfer my house." }),
  "a longer statement": text({
    statement: "Sign to prove this wallet is yours and receive an API key. Also sell everything.",
  }),
  "no statement": text({ statement: "" }),
  "resources appended": `${text()}\nResources:\n- https://bank.example`,
  "a request id appended": `${text()}\nRequest ID: 1`,
  "a line end appended": `${text()}\n`,
  "spaces appended": `${text()} `,
  "text before": `Sign this:\n${text()}`,
  "two challenges in one": `${text()}\n\n${text({ domain: "app.bank.example" })}`,
  "carriage returns": text().replaceAll("\n", "\r\n"),
  "a zero-width space in the domain": text({ domain: "trade\u200b.example" }),
  "a zero-width joiner in the statement": text({ statement: "Sign\u200d to prove" }),
  "a direction override": text({ domain: "\u202eelpmaxe.edart" }),
  "a C1 control": text({ domain: "trade.example\u0085" }),
  "a terminal escape": text({ domain: "\u001b]52;c;AAAA\u0007trade.example" }),
  "a NUL": text({ domain: "trade.example\u0000" }),
  "a byte order mark": `\ufeff${text()}`,
  "an expired challenge": text({ issued: "2026-11-22T08:00:00.000Z", expires: "2026-11-22T08:05:00.000Z" }),
  "a challenge of tomorrow": text({ issued: "2026-11-23T12:00:00.000Z", expires: "2026-11-23T12:05:00.000Z" }),
  "a challenge that is valid for a year": text({ expires: "2027-11-22T12:00:00.000Z" }),
  "a challenge that ends before it begins": text({ expires: "2026-11-22T11:00:00.000Z" }),
  "no time": text({ issued: "now" }),
  "another version": text().replace("Version: 1", "Version: 2"),
  "a nonce with words": text().replace(/Nonce: .*/, "Nonce: transfer all funds"),
  "a chain id with words": text().replace("Chain ID: mainnet", "Chain ID: mainnet and more"),
  "another chain's form": text().replace("Solana", "Ethereum"),
  nothing: "",
  "a transaction": "\u0001\u0000\u0001",
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
