import bs58 from "bs58";
import { concatBytes } from "../../src/primitives/bytes.ts";
import type { TestService } from "./service.ts";
import { createTestWallet } from "./wallet.ts";

/** Real answers by operation: the whole envelope, or for a stream its events; undefined for an empty body. */
export type RecordedAnswers = Readonly<Record<string, unknown>>;

type Data = Readonly<Record<string, unknown>>;

/** Longest text that an example shows whole, if it is one line. Characters. */
const LONGEST_TEXT = 64;
const SHOWN_TEXT = 24;
/** Stands for the address of the service that answered. */
const SHOWN_HOST = "localhost:8080";

/** Calls every operation as a wallet on its first trade does, and returns what came back, with secrets and long texts cut. */
export async function recordAnswers(service: TestService): Promise<RecordedAnswers> {
  const answers: Record<string, unknown> = {};
  const { host } = new URL(service.url);
  const wallet = createTestWallet();
  const walletAddress = wallet.address.toString();
  await service.rpc("requestAirdrop", [walletAddress, 10e9]);
  let apiKey: string | undefined;
  const call = async (id: string, method: string, path: string, body?: object): Promise<Data> => {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${id}: ${text}`);
    const answer = text === "" ? undefined : JSON.parse(text);
    answers[id] = shortened(text === "" ? undefined : JSON.parse(text.replaceAll(host, SHOWN_HOST)));
    return answer?.data;
  };
  const mint = service.mintOn("raydium_cpmm");
  const terms = { slippage: 0.05, priority: "fast" };
  const swap = { inputMint: "SOL", outputMint: mint, amount: 0.1, swapMode: "exactIn", ...terms };

  await call("ping", "GET", "/v1/ping");
  const { message } = await call("createChallenge", "POST", "/v1/auth/challenge", { walletAddress });
  const signature = bs58.encode(wallet.sign(String(message)));
  const registration = { walletAddress, message, signature, label: "first bot" };
  apiKey = String((await call("register", "POST", "/v1/auth/register", registration)).apiKey);
  await call("getProfile", "GET", "/v1/auth/profile");
  await call("getPriority", "GET", "/v1/priority");
  await call("quote", "POST", "/v1/tx/quote", swap);
  await call("swap", "POST", "/v1/tx/swap", swap);
  const built = await call("buy", "POST", "/v1/tx/buy", { mint, solAmount: 0.1, ...terms });
  const unsigned = Buffer.from(String(built.unsignedTransaction), "base64");
  const signed = concatBytes(Uint8Array.of(1), wallet.sign(unsigned.subarray(65)), unsigned.subarray(65));
  const landed = await call("submit", "POST", "/v1/tx/submit", {
    submissionToken: built.submissionToken,
    signedTransaction: Buffer.from(signed).toString("base64"),
  });
  answers.watchTrade = await eventsOf(`${service.url}/v1/tx/${landed.signature}/events`, apiKey);
  await call("getTrade", "GET", `/v1/tx/${landed.signature}`);
  await call("listTrades", "GET", "/v1/tx?limit=10");
  await call("getBalances", "GET", `/v1/auth/balances?mint=${mint}`);
  await call("sell", "POST", "/v1/tx/sell", { mint, tokenAmount: 1, ...terms });
  const { priority: _, amount, ...asked } = swap;
  const query = new URLSearchParams({ ...asked, amount: String(amount), slippage: String(swap.slippage) });
  answers.watchQuote = await eventsOf(`${service.url}/v1/quotes/stream?${query}`, apiKey, 1);
  const { keys } = (await call("listKeys", "GET", "/v1/auth/keys")) as { keys: readonly { keyId: string }[] };
  await call("revokeKey", "DELETE", `/v1/auth/keys/${keys[0]!.keyId}`);
  return answers;
}

/** The first events of a stream, or all to its end. */
async function eventsOf(url: string, apiKey: string, count = Number.POSITIVE_INFINITY): Promise<readonly unknown[]> {
  const stop = new AbortController();
  const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: stop.signal });
  if (response.status !== 200) throw new Error(await response.text());
  const events: unknown[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const parts = text.split("\n\n");
    text = parts.pop()!;
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      if (event !== undefined) events.push({ event, data: shortened(JSON.parse(data!)) });
    }
    if (events.length >= count) break;
  }
  stop.abort();
  // A trade passes through its states at the machine's pace: the first event, the one before the last, and the last.
  return events.length <= 3 ? events : [events[0], ...events.slice(-2)];
}

/** The same with long texts cut, and without the key. */
function shortened(value: unknown, name = ""): unknown {
  if (name === "apiKey") return "api_…";
  if (typeof value === "string")
    return value.length > LONGEST_TEXT && !/[\n ]/.test(value) ? `${value.slice(0, SHOWN_TEXT)}…` : value;
  if (Array.isArray(value)) return value.map((item) => shortened(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, shortened(inner, field)]));
}

/** Where two answers differ by their fields, not their values; what is null or empty in one may be anything in the other. */
export function differences(one: unknown, other: unknown, at = "answers"): readonly string[] {
  if (one === null || other === null) return [];
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === 0 || other.length === 0 ? [] : differences(one[0], other[0], `${at}[]`);
  if (typeof one !== typeof other || Array.isArray(one) !== Array.isArray(other)) return [`${at} is of another type`];
  if (typeof one !== "object" || typeof other !== "object") return [];
  const [a, b] = [one as Data, other as Data];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    name in a && name in b ? differences(a[name], b[name], `${at}.${name}`) : [`${at}.${name} is in one only`],
  );
}
