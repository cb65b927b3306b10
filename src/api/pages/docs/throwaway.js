// The throwaway wallet of the reference, on a test chain: one click gets it SOL and an API key.

import { byId } from "../shared/page.js";
import { fund, signIn, wordsOf } from "../shared/sign-in.js";

let wallet;

/** Offers the wallet if the service has a faucet. @param enter receives the API key */
export function offerThrowaway(status, enter) {
  const button = byId("throwaway");
  if (!status?.faucet) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
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
    button.disabled = false;
  });
}

/** The body of a submit: the built transaction, signed by the throwaway wallet. */
export function submitSigned({ submissionToken, unsignedTransaction }) {
  const transaction = Uint8Array.from(atob(unsignedTransaction), (character) => character.charCodeAt(0));
  const signedTransaction = btoa(String.fromCharCode(...wallet.signBytes(transaction)));
  return JSON.stringify({ submissionToken, signedTransaction });
}
