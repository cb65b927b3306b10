import type { Address } from "../../primitives/address.ts";
import { isoMillis } from "../../primitives/clock.ts";

interface ChallengeFields {
  /** Host, with its port if it has one. */
  readonly domain: string;
  readonly wallet: Address;
  /** Origin of the service. */
  readonly uri: string;
  readonly chainId: string;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

const STATEMENT = "Sign to prove this wallet is yours and receive an API key. This moves no funds and costs nothing.";

/**
 * The text a wallet shows and signs. It starts with printable ASCII, so its bytes never parse as a transaction message:
 * the first byte would announce at least 45 signers, whose keys alone are longer than this text.
 *
 * @see https://github.com/phantom/sign-in-with-solana, section "Message Construction"
 */
export function writeChallenge(fields: ChallengeFields): string {
  return [
    opening(fields.domain),
    `${fields.wallet}`,
    "",
    STATEMENT,
    "",
    `URI: ${fields.uri}`,
    "Version: 1",
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${isoMillis(fields.issuedAtMs)}`,
    `Expiration Time: ${isoMillis(fields.expiresAtMs)}`,
  ].join("\n");
}

/** True if the text asks to sign in to exactly this domain. */
export function isForDomain(message: string, domain: string): boolean {
  return message.startsWith(`${opening(domain)}\n`);
}

const opening = (domain: string): string => `${domain} wants you to sign in with your Solana account:`;
