// The wallet of the trade page: which one, signed in with what key, and its funds on a test chain.

import { byId, element, handOverKey, suspend } from "../shared/page.js";
import { endKey, fund, retireKeys, signIn, walletButton, wordsOf } from "../shared/sign-in.js";
import { createThrowawayWallet } from "../shared/throwaway-wallet.js";
import { canSignText, connect, findWallets } from "../shared/wallets.js";
import { say } from "./notices.js";

/** What the keys of this page are called in the list of an account. */
const KEY_LABEL = "trade page";

export class WalletCard {
  /** The connected wallet, its account and API key; undefined if there is none. */
  session;
  #status;
  #events;

  /** @param events `opened(session)`, `funded()` and `left(session)`; all may be asynchronous */
  constructor(events) {
    this.#events = events;
    byId("leave").addEventListener("click", () => {
      this.leave();
      byId("wallets").querySelector("button")?.focus();
    });
    byId("fund").addEventListener("click", () => this.#fund());
    byId("secret").addEventListener("click", () => this.#copySecret());
    byId("history").addEventListener("click", () => {
      handOverKey(this.session.apiKey);
      location.assign("/history");
    });
  }

  /** Offers the wallets of this browser, and on a test chain one of this page. */
  offer(status) {
    this.#status = status;
    byId("network").textContent = `This service trades on ${status.network}.`;
    if (status.faucet) this.#offer(createThrowawayWallet(), "Use a throwaway wallet");
    findWallets((wallet) => this.#offer(wallet));
    byId("no-wallet").hidden = byId("wallets").hasChildNodes();
  }

  #offer(wallet, words) {
    byId("no-wallet").hidden = true;
    const button = walletButton({ ...wallet, name: words ?? wallet.name, icon: wallet.icon }, element);
    button.addEventListener("click", async () => {
      const resume = suspend(button);
      try {
        await this.#open(wallet);
      } catch (error) {
        say("wallet-notice", wordsOf(error), "bad");
      }
      resume();
    });
    if (words === undefined) byId("wallets").append(button);
    else byId("wallets").prepend(button);
  }

  /** Connects a wallet, funds it if it is a throwaway one, and signs in. */
  async #open(wallet) {
    const { network, faucet } = this.#status;
    say("wallet-notice", `Waiting for ${wallet.name}`);
    const account = await connect(wallet, network);
    if (wallet.secretKey !== undefined) await fund(account.address);
    const chosen = { wallet, account, network };
    const { apiKey, keyId } = await signIn(chosen, { network, label: KEY_LABEL, hardware: !canSignText(wallet) });
    if (this.session !== undefined) {
      // Another wallet has signed in meanwhile, and may be trading.
      endKey({ apiKey, keyId }).catch(() => {});
      return;
    }
    // Whatever comes of it: the next visit tries again.
    retireKeys(apiKey, KEY_LABEL).catch(() => {});
    this.session = { ...chosen, apiKey, keyId };
    this.#watch(this.session);
    byId("wallet-name").textContent = wallet.name;
    byId("address").textContent = account.address;
    byId("fund").hidden = !faucet;
    byId("secret").hidden = wallet.secretKey === undefined;
    byId("choose").hidden = true;
    byId("connected").hidden = false;
    say("wallet-notice", "");
    await this.#events.opened(this.session);
  }

  /** A wallet that shares the account no more, or another one, ends the session. @see the events of the Wallet Standard */
  #watch(session) {
    const { wallet, account } = session;
    wallet.features["standard:events"]?.on("change", ({ accounts }) => {
      if (this.session !== session || accounts === undefined) return;
      if (accounts.some(({ address }) => address === account.address)) return;
      this.leave();
      const words = accounts.length === 0 ? "has disconnected" : "has switched to another account: connect it to go on";
      say("wallet-notice", `${wallet.name} ${words}.`, "bad");
    });
  }

  /** Ends the session, and its key as soon as no trade is followed with it. */
  leave() {
    const left = this.session;
    this.session = undefined;
    byId("choose").hidden = false;
    byId("connected").hidden = true;
    // A key that cannot be revoked now goes with the next visit.
    Promise.resolve(this.#events.left(left))
      .then(() => endKey(left))
      .catch(() => {});
  }

  async #fund() {
    const resume = suspend(byId("fund"));
    try {
      await fund(this.session.account.address);
      await this.#events.funded();
      say("wallet-notice", "10 SOL of this test chain arrived.", "good");
    } catch (error) {
      say("wallet-notice", error.message, "bad");
    }
    resume();
  }

  async #copySecret() {
    const { secretKey } = this.session.wallet;
    try {
      await navigator.clipboard.writeText(secretKey);
      const worth = "This wallet is worth nothing outside this chain.";
      say("wallet-notice", `The secret key is on the clipboard. ${worth}`, "good");
    } catch {
      say("wallet-notice", `Secret key of this throwaway wallet: ${secretKey}`);
    }
  }
}
