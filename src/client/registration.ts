import { unsigned } from "./trade-error.ts";

/** What a challenge must be for. */
export interface ChallengeTerms {
  readonly walletAddress: string;
  /** URL of the service that the caller chose. */
  readonly baseUrl: string;
  /** Host of the service if it is not that of `baseUrl`, with its port if it has one. */
  readonly domain?: string | undefined;
  readonly nowMs: number;
}

/** The one text that registers a wallet. Anything else could be a login for another site, or words put into the owner's mouth. */
const TEMPLATE =
  /^(\S+) wants you to sign in with your Solana account:\n(\S+)\n\nSign to prove this wallet is yours and receive an API key\. This moves no funds and costs nothing\.\n\nURI: (\S+)\nVersion: 1\nChain ID: [a-z0-9:-]{1,44}\nNonce: [0-9A-Za-z]{8,64}\nIssued At: (\S+)\nExpiration Time: (\S+)$/;
/** Plain ASCII: no control characters but line ends, nothing invisible, nothing that changes the direction of text. */
const PLAIN = /^[\n\x20-\x7e]*$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const LONGEST_LIFE_MS = 15 * 60_000;
/** Clocks of callers are off by up to an hour; a challenge of yesterday is a replay. */
const LONGEST_SKEW_MS = 2 * 3_600_000;

/**
 * Checks that a challenge is the one text that registers this wallet with this service, and nothing else.
 * @throws TradeError UNEXPECTED_CHALLENGE
 */
export function checkChallenge(message: string, terms: ChallengeTerms): void {
  const reason = faultOf(message, terms);
  if (reason === undefined) return;
  throw unsigned("UNEXPECTED_CHALLENGE", `Refused to register: ${reason}`);
}

function faultOf(message: string, { walletAddress, baseUrl, domain, nowMs }: ChallengeTerms): string | undefined {
  const match = PLAIN.test(message) ? TEMPLATE.exec(message) : null;
  if (match === null) return "the service asked to sign something other than a registration";
  const [, site = "", wallet, uri = "", issued = "", expires = ""] = match;
  if (wallet !== walletAddress) return "the challenge is for another wallet";
  const base = new URL(baseUrl);
  const expected = sameHost(domain ?? base.host);
  const target = URL.canParse(uri) ? new URL(uri) : undefined;
  const schemes = domain === undefined ? [base.protocol] : ["https:", "http:"];
  const isOrigin = target !== undefined && (uri === target.origin || uri === `${target.origin}/`);
  if (sameHost(site) !== expected || !isOrigin || sameHost(target.host) !== expected) {
    return `the challenge signs in to ${site} (${uri}), not to ${domain ?? base.host} (option domain names another host)`;
  }
  if (!schemes.includes(target.protocol)) return `the challenge is for ${uri}, not for ${base.origin}`;
  const [from, until] = [issued, expires].map((text) => (TIME.test(text) ? Date.parse(text) : Number.NaN));
  const life = until! - from!;
  if (!(life > 0 && life <= LONGEST_LIFE_MS) || !(Math.abs(nowMs - from!) <= LONGEST_SKEW_MS)) {
    return `the challenge is valid from ${issued} to ${expires}, which is not now`;
  }
  return undefined;
}

/** The host with every name of this machine's loopback as one. */
function sameHost(host: string): string {
  return host.toLowerCase().replace(/^(127\.0\.0\.1|\[::1\])(?=:|$)/, "localhost");
}
