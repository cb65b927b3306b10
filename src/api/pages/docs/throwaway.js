// Who signs a build of the reference: on a test chain a throwaway wallet, one click from SOL and an API key; else a wallet of this browser.

import { byId, suspend } from "../shared/page.js";
import { fund, signIn, wordsOf } from "../shared/sign-in.js";
import { connect, findWallets, signTransaction } from "../shared/wallets.js";

const SIGN_TRANSACTION = "solana:signTransaction";

let wallet;
let network;
const extensions = [];
findWallets((found) => {
  if (SIGN_TRANSACTION in found.features) extensions.push(found);
});

/** Offers the wallet if the service has a faucet. @param enter receives the API key */
export function offerThrowaway(status, enter) {
  network = status?.network;
  const button = byId("throwaway");
  if (!status?.faucet) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const resume = suspend(button);
    byId("api-key-help").textContent = "Making a wallet, asking the faucet for SOL, signing in";
    try {
      const { createThrowawayWallet } = await import("../shared/throwaway-wallet.js");
      const made = createThrowawayWallet();
      const [account] = made.accounts;
      await fund(account.address);
      const { apiKey } = await signIn({ wallet: made, account }, { network: status.network, label: "reference" });
      wallet = made;
      button.dataset.key = apiKey;
      byId("api-key-help").textContent =
        `A throwaway wallet with 10 SOL of this test chain: ${account.address}. Its key is in this tab alone.`;
      enter(apiKey);
    } catch (error) {
      byId("api-key-help").textContent = wordsOf(error);
    }
    resume();
  });
}

/** Who can sign for the wallet of this key, as far as this page knows: `name`, and `sign(bytes)`, which resolves with the signed ones. */
export function signersOf(apiKey) {
  if (byId("throwaway").dataset.key === apiKey)
    return [{ name: "the throwaway wallet", sign: async (bytes) => wallet.signBytes(bytes) }];
  return extensions.map((one) => ({ name: one.name, sign: (bytes) => signWith(one, bytes) }));
}

/** @throws Error if the wallet is on another network, its owner refuses, or it signed other bytes */
async function signWith(chosen, transaction) {
  if (network === undefined) throw new Error("The network of this service is not known. Load the page again.");
  const account = await connect(chosen, network);
  return signTransaction(chosen, account, transaction, network);
}

/** The body of a submit: the built transaction, signed. @throws Error with what `sign` throws */
export async function submitSigned({ submissionToken, unsignedTransaction }, sign) {
  const transaction = Uint8Array.from(atob(unsignedTransaction), (character) => character.charCodeAt(0));
  const signedTransaction = btoa(String.fromCharCode(...(await sign(transaction))));
  return JSON.stringify({ submissionToken, signedTransaction });
}
