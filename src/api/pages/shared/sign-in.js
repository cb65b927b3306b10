// Signing in with a wallet: the one text that registers it here, for an API key.

import { checkChallenge } from "./challenge.js";
import { call } from "./page.js";
import { base58, signMemo, signText } from "./wallets.js";

/** Registers the wallet and returns its API key with the key's id. @throws Error with a message for the user */
export async function signIn({ wallet, account }, { network, label, revokeOthers = false, hardware = false }) {
  const { message } = await call("POST", "/v1/auth/challenge", { body: { walletAddress: account.address } });
  checkChallenge(message, account.address, location, Date.now());
  const signature = await (hardware ? signMemo : signText)(wallet, account, message, network);
  const { apiKey, keyId } = await call("POST", "/v1/auth/register", {
    body: { walletAddress: account.address, message, signature: base58(signature), label, revokeOthers },
  });
  return { apiKey, keyId };
}

/** Keys with one label that stay in use: other tabs may have them. */
const KEPT = 3;

/**
 * Revokes the keys that earlier visits left behind under a label, but for the newest few: an account may have only so many.
 * @throws Error with a message for the user
 */
export async function retireKeys(apiKey, label) {
  const { keys } = await call("GET", "/v1/auth/keys", { apiKey });
  const live = keys.filter((key) => key.label === label && key.revokedAt === null);
  for (const { keyId } of live.slice(0, -KEPT)) await call("DELETE", `/v1/auth/keys/${keyId}`, { apiKey });
}

/** Revokes a key that its page needs no more. @throws Error with a message for the user */
export async function endKey({ apiKey, keyId }) {
  await call("DELETE", `/v1/auth/keys/${keyId}`, { apiKey });
}

/** Asks the faucet of a test chain for SOL. @throws Error with a message for the user */
export async function fund(walletAddress) {
  await call("POST", "/faucet", { body: { walletAddress } });
}

/** A message for the user. Wallets report a rejection in many ways; 4001 is the common code. */
export function wordsOf(error) {
  const refused = error?.code === 4001 || /reject|denied|declin|cancel/i.test(error?.message ?? "");
  if (refused) return "The wallet declined. Nothing has changed. Try again when you are ready.";
  return error?.message ?? "The wallet failed. Try again.";
}

/** The button of a wallet, with its icon. */
export function walletButton(wallet, element) {
  const icon = /^data:image\//.test(wallet.icon ?? "") ? [element("img", { src: wallet.icon, alt: "" })] : [];
  return element("button", { type: "button" }, ...icon, element("span", {}, wallet.name));
}
