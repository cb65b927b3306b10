// What this page may ask a wallet to sign: the one text that registers it here, and nothing else.

const TEMPLATE =
  /^(\S+) wants you to sign in with your Solana account:\n(\S+)\n\nSign to prove this wallet is yours and receive an API key\. This moves no funds and costs nothing\.\n\nURI: (\S+)\nVersion: 1\nChain ID: [a-z0-9:-]{1,44}\nNonce: [0-9A-Za-z]{8,64}\nIssued At: (\S+)\nExpiration Time: (\S+)$/;
/** Plain ASCII: no control characters but line ends, nothing invisible, nothing that changes the direction of text. */
const PLAIN = /^[\n\x20-\x7e]*$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const LONGEST_LIFE_MS = 15 * 60_000;
const LONGEST_SKEW_MS = 2 * 3_600_000;

/**
 * Checks that a challenge registers this wallet with the site of this page.
 * @param site the page's `location`: `host` and `origin`
 * @throws Error saying why the wallet is not asked
 */
export function checkChallenge(message, walletAddress, site, nowMs) {
  const match = PLAIN.test(message) ? TEMPLATE.exec(message) : null;
  if (match === null) throw refusal("it is not a registration");
  const [, domain, wallet, uri, issued, expires] = match;
  if (wallet !== walletAddress) throw refusal("it is for another wallet");
  if (loopback(domain) !== loopback(site.host) || loopback(uri.replace(/\/$/, "")) !== loopback(site.origin)) {
    throw refusal(`it signs in to ${domain} (${uri}), not to this page. If this is your service, set its PUBLIC_URL`);
  }
  const [from, until] = [issued, expires].map((text) => (TIME.test(text) ? Date.parse(text) : Number.NaN));
  const life = until - from;
  if (!(life > 0 && life <= LONGEST_LIFE_MS) || !(Math.abs(nowMs - from) <= LONGEST_SKEW_MS)) {
    throw refusal(`it is valid from ${issued} to ${expires}. Check this computer's clock`);
  }
}

/** Every name of this machine's loopback as one. */
const loopback = (text) => text.toLowerCase().replace(/^(https?:\/\/)?(127\.0\.0\.1|\[::1\])(?=:|$)/, "$1localhost");

const refusal = (reason) => new Error(`The service sent a text that this page does not let you sign: ${reason}.`);
