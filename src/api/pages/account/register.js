import { curlFor } from "../shared/curl.js";
import { byId, call, element, exampleBuy, fetchStatus, goTo, handOverKey, localTime, suspend } from "../shared/page.js";
import { fund, signIn, walletButton, wordsOf } from "../shared/sign-in.js";
import { connect, findWallets } from "../shared/wallets.js";

let status;
let chosen;

/** The network of the service, fetched until known. Only connecting a wallet depends on it. */
async function networkOf() {
  status ??= await fetchStatus();
  byId("network").textContent = `This service trades on ${status.network}.`;
  return status.network;
}

networkOf().catch((error) => {
  byId("network").textContent = error.message;
});

function say(words, kind = "", where = "notice") {
  byId(where).className = `notice ${kind}`;
  byId(where).textContent = words;
}

findWallets(offer);

/** On a test chain a wallet made here will do. */
networkOf()
  .then(async () => {
    if (!status.faucet) return;
    const { createThrowawayWallet } = await import("../shared/throwaway-wallet.js");
    offer(createThrowawayWallet());
  })
  .catch(() => {})
  .finally(() => {
    byId("register-here").textContent = `tradewire register --url ${location.origin}`;
    byId("no-wallet").hidden = byId("wallets").hasChildNodes();
  });

function offer(wallet) {
  byId("no-wallet").hidden = true;
  const button = walletButton(wallet, element);
  button.addEventListener("click", async () => {
    const resume = suspend(button);
    say(`Waiting for ${wallet.name}`);
    try {
      const account = await connect(wallet, await networkOf());
      if (wallet.secretKey !== undefined) await fund(account.address);
      chosen = { wallet, account };
      byId("wallet-name").textContent = wallet.name;
      byId("address").textContent = account.address;
      byId("account").hidden = false;
      byId("throwaway").hidden = wallet.secretKey === undefined;
      byId("secret-key").textContent = wallet.secretKey ?? "";
      byId("sign").disabled = false;
      say("");
    } catch (error) {
      say(wordsOf(error), "bad");
    }
    resume();
  });
  byId("wallets").append(button);
}

byId("sign").addEventListener("click", async () => {
  const { wallet, account } = chosen;
  const resume = suspend(byId("sign"));
  byId("result").hidden = true;
  say(`Waiting for ${wallet.name} to sign`);
  try {
    const { apiKey } = await signIn(
      { wallet, account },
      {
        network: status.network,
        label: byId("label").value.trim(),
        revokeOthers: byId("revoke-others").checked,
        hardware: byId("hardware").checked,
      },
    );
    say("");
    showKey(apiKey);
  } catch (error) {
    say(wordsOf(error), "bad");
  }
  resume();
});

function showKey(apiKey) {
  byId("key").textContent = apiKey;
  byId("curl").textContent = curlFor("POST", `${location.origin}/v1/tx/buy`, apiKey, exampleBuy(status));
  byId("manage-key").value = apiKey;
  byId("result").hidden = false;
  goTo(byId("result"));
  listKeys(apiKey);
}

byId("reference").addEventListener("click", () => handOverKey(byId("key").textContent));

byId("keys-form").addEventListener("submit", (event) => {
  event.preventDefault();
  listKeys(byId("manage-key").value.trim());
});

const dateOf = (iso) => localTime(iso).slice(0, 16);

async function listKeys(apiKey) {
  say("", "", "keys-notice");
  if (apiKey === "") {
    say("Enter a key of the account first.", "bad", "keys-notice");
    return;
  }
  try {
    const { keys } = await call("GET", "/v1/auth/keys", { apiKey });
    byId("keys").tBodies[0].replaceChildren(...keys.map((key) => keyRow(key, apiKey)));
    byId("keys").hidden = false;
  } catch (error) {
    byId("keys").hidden = true;
    say(error.message, "bad", "keys-notice");
  }
}

function keyRow({ keyId, label, createdAt, revokedAt }, apiKey) {
  // A key starts with its own id.
  const own = apiKey.startsWith(`api_${keyId}`);
  const state = element("td");
  if (revokedAt != null) state.append(element("span", { class: "state" }, `revoked ${dateOf(revokedAt)}`));
  else {
    const button = element(
      "button",
      { type: "button", class: "plain small danger" },
      own ? "Revoke this key" : "Revoke",
    );
    button.setAttribute("aria-label", `${button.textContent}: ${label === "" ? keyId : label}`);
    button.addEventListener("click", async () => {
      const resume = suspend(button);
      try {
        await call("DELETE", `/v1/auth/keys/${encodeURIComponent(keyId)}`, { apiKey });
        if (own) {
          byId("keys").hidden = true;
          say("This key is revoked. Use another key of the account to list the others.", "good", "keys-notice");
        } else await listKeys(apiKey);
      } catch (error) {
        say(error.message, "bad", "keys-notice");
        resume();
      }
    });
    state.append(button);
  }
  return element(
    "tr",
    {},
    element("td", {}, label === "" ? "(no name)" : label),
    element("td", {}, element("code", {}, keyId)),
    element("td", { class: "quiet" }, dateOf(createdAt)),
    state,
  );
}
