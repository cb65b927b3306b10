export const WALLET = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
export const NOW = Date.parse("2026-11-22T12:00:00.000Z");
/** The challenge of `https://trade.example` at NOW for WALLET, with changes. */
export const text = (
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
export const HOSTILE: Readonly<Record<string, string>> = {
  "a login at a bank": text({ domain: "app.bank.example" }),
  "a login at a bank, with the service's URI": text({ domain: "app.bank.example" }),
  "the challenge of another Tradewire, relayed": text({ domain: "other.example", uri: "https://other.example" }),
  "the service's domain with a bank's URI": text({ uri: "https://app.bank.example" }),
  "a URI with a path": text({ uri: "https://trade.example/login?next=//bank.example" }),
  "a URI with a query": text({ uri: "https://trade.example?next=bank.example" }),
  "a URI with a fragment": text({ uri: "https://trade.example#bank.example" }),
  "a URI with two slashes": text({ uri: "https://trade.example//" }),
  "a URI of another scheme": text({ uri: "ftp://trade.example" }),
  "a URI that another one begins": text({ uri: "app:https://trade.example" }),
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
  "a challenge that ends as it begins": text({ expires: "2026-11-22T12:00:00.000Z" }),
  "a challenge that is valid a moment too long": text({ expires: "2026-11-22T12:15:00.001Z" }),
  "a challenge of two hours and a moment ago": text({
    issued: "2026-11-22T09:59:59.999Z",
    expires: "2026-11-22T10:05:00Z",
  }),
  "a challenge of a moment later than two hours": text({
    issued: "2026-11-22T14:00:00.001Z",
    expires: "2026-11-22T14:05:00Z",
  }),
  "no time": text({ issued: "now" }),
  "no end": text({ expires: "never" }),
  "a time with a comma": text({ issued: "2026-11-22T12:00:00,000Z" }),
  "a time with a point and no more": text({ issued: "2026-11-22T12:00:00.Z" }),
  "a time in other digits": text({ issued: "2026-11-22T12:00:00.00\u0660Z" }),
  "a time with words": text({ issued: "2026/11/22(I-owe-you-a-house)12:00:00Z" }),
  "a time of another zone": text({ issued: "2026-11-22T12:00:00.000+00:00" }),
  "a time without seconds": text({ issued: "2026-11-22T12:00Z" }),
  "a time in too many digits": text({ issued: "2026-11-22T12:00:00.0000000000Z" }),
  "a month that there is not": text({ expires: "2026-13-22T12:05:00.000Z" }),
  "another version": text().replace("Version: 1", "Version: 2"),
  "a nonce with words": text().replace(/Nonce: .*/, "Nonce: transfer all funds"),
  "a nonce that can be guessed": text().replace(/Nonce: .*/, "Nonce: 1234567"),
  "a nonce that is a text": text().replace(/Nonce: .*/, `Nonce: ${"a".repeat(65)}`),
  "a nonce with a mark": text().replace(/Nonce: .*/, "Nonce: 0123456789-abcdef"),
  "a chain id in capitals": text().replace("Chain ID: mainnet", "Chain ID: Mainnet"),
  "a chain id that is a text": text().replace(/Chain ID: .*/, `Chain ID: ${"a".repeat(45)}`),
  "no chain id": text().replace(/Chain ID: .*/, "Chain ID: "),
  "a statement with another mark": text().replace("costs nothing.", "costs nothing!"),
  "a statement with another mark within": text().replace("API key. This", "API key, This"),
  "a chain id with words": text().replace("Chain ID: mainnet", "Chain ID: mainnet and more"),
  "another chain's form": text().replace("Solana", "Ethereum"),
  nothing: "",
  "a transaction": "\u0001\u0000\u0001",
};

/** One text that a client is asked to sign. */
interface Challenge {
  readonly name: string;
  readonly message: string;
  readonly wallet: string;
  readonly baseUrl: string;
  /** Empty: that of `baseUrl`. */
  readonly domain: string;
  readonly nowMs: number;
  readonly isSigned: boolean;
}

const own = { wallet: WALLET, baseUrl: "https://trade.example", domain: "", nowMs: NOW, isSigned: true };
const byName = { baseUrl: "http://10.0.0.7:8080", domain: "trade.example" };
const local = {
  message: text({ domain: "localhost:8080", uri: "http://localhost:8080" }),
  baseUrl: "http://127.0.0.1:8080",
};

/** Honest and hostile ones, for clients in other languages. */
export const CHALLENGES: readonly Challenge[] = [
  { ...own, name: "its own", message: text() },
  {
    ...own,
    name: "a slash, a port",
    message: text({ uri: "https://trade.example/" }),
    baseUrl: "https://trade.example:443",
  },
  { ...own, name: "loopback", ...local },
  {
    ...own,
    name: "loopback by a longer name",
    message: text({ domain: "[::1]:8080", uri: "http://127.0.0.1:8080" }),
    baseUrl: "http://localhost:8080",
  },
  {
    ...own,
    name: "loopback without a port",
    message: text({ domain: "[::1]", uri: "http://localhost" }),
    baseUrl: "http://127.0.0.1",
  },
  { ...own, name: "a host in capitals", message: text({ domain: "TRADE.example" }), baseUrl: "https://Trade.Example" },
  { ...own, name: "a user in the address", message: text(), baseUrl: "https://user:word@trade.example" },
  { ...own, name: "a path in the address", message: text(), baseUrl: "https://trade.example/api" },
  {
    ...own,
    name: "the port of plain HTTP",
    message: text({ uri: "http://trade.example" }),
    baseUrl: "http://trade.example:80",
  },
  { ...own, name: "as long as may be", message: text({ expires: "2026-11-22T12:15:00.000Z" }) },
  { ...own, name: "a clock two hours ahead", message: text(), nowMs: NOW + 7_200_000 },
  { ...own, name: "a clock two hours behind", message: text(), nowMs: NOW - 7_200_000 },
  {
    ...own,
    name: "times in whole seconds",
    message: text({ issued: "2026-11-22T12:00:00Z", expires: "2026-11-22T12:00:01Z" }),
  },
  { ...own, name: "times in tenths of a second", message: text({ issued: "2026-11-22T12:00:00.5Z" }) },
  { ...own, name: "times in nanoseconds", message: text({ issued: "2026-11-22T12:00:00.000000001Z" }) },
  { ...own, name: "the shortest nonce", message: text().replace(/Nonce: .*/, "Nonce: 0aZ9zA18") },
  { ...own, name: "the longest nonce", message: text().replace(/Nonce: .*/, `Nonce: ${"a".repeat(64)}`) },
  {
    ...own,
    name: "the longest chain id",
    message: text().replace(/Chain ID: .*/, `Chain ID: ${"az09:-b".repeat(6)}xy`),
  },
  { ...own, name: "the shortest chain id", message: text().replace(/Chain ID: .*/, "Chain ID: z") },
  { ...own, ...byName, name: "another host by name", message: text() },
  {
    ...own,
    ...byName,
    name: "another host by name, without encryption",
    message: text({ uri: "http://trade.example" }),
  },
  {
    ...own,
    ...byName,
    name: "the host's own name instead of the given one",
    message: text({ domain: "10.0.0.7:8080", uri: "http://10.0.0.7:8080" }),
    isSigned: false,
  },
  { ...own, name: "another host", message: text(), baseUrl: "http://10.0.0.7:8080", isSigned: false },
  {
    ...own,
    name: "a host that begins like loopback",
    message: text({ domain: "127.0.0.1.bank.example", uri: "http://127.0.0.1.bank.example" }),
    baseUrl: "http://localhost.bank.example",
    isSigned: false,
  },
  {
    ...own,
    name: "a host that ends like loopback",
    message: text({ domain: "my127.0.0.1", uri: "http://my127.0.0.1" }),
    baseUrl: "http://mylocalhost",
    isSigned: false,
  },
  ...["127x0.0.1", "127.0x0.1", "127.0.0x1"].map((host) => ({
    ...own,
    name: `${host}, which is not loopback`,
    message: text({ domain: host, uri: `http://${host}` }),
    baseUrl: "http://localhost",
    isSigned: false,
  })),
  {
    ...own,
    name: "a host with a sign that small letters turn into another",
    message: text({ domain: "\u212aite.example", uri: "https://kite.example" }),
    baseUrl: "https://kite.example",
    isSigned: false,
  },
  {
    ...own,
    name: "another port that the scheme has",
    message: text({ domain: "trade.example:80", uri: "https://trade.example:80" }),
    baseUrl: "https://trade.example",
    isSigned: false,
  },
  ...Object.entries(HOSTILE).map(([name, message]) => ({ ...own, name, message, isSigned: false })),
];

/** What became of each, by name: from a client's lines, or as it must be. */
export function outcomes(lines?: string): Readonly<Record<string, string>> {
  const said = lines?.trim().split("\n");
  return Object.fromEntries(
    CHALLENGES.map(({ name, isSigned }, index) => {
      const isRefused =
        said === undefined ? !isSigned : /^refused to register: .+; nothing was signed$/.test(said[index] ?? "");
      return [name, isRefused ? "refused" : (said?.[index] ?? "signed")];
    }),
  );
}
