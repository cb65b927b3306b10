// Wallets in this browser that support the Wallet Standard, and what they can sign.

const SIGN_MESSAGE = "solana:signMessage";
const SIGN_TRANSACTION = "solana:signTransaction";
const CONNECT = "standard:connect";

/** Calls `found` with every wallet, present and future. @see https://github.com/wallet-standard/wallet-standard */
export function findWallets(found) {
  const seen = new Set();
  const register = (...wallets) => {
    for (const wallet of wallets) {
      if (seen.has(wallet) || !isUsable(wallet)) continue;
      seen.add(wallet);
      found(wallet);
    }
    return () => {};
  };
  const api = Object.freeze({ register });
  window.addEventListener("wallet-standard:register-wallet", ({ detail }) => detail(api));
  window.dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
}

function isUsable({ chains, features }) {
  return (
    chains.some((chain) => chain.startsWith("solana:")) &&
    CONNECT in features &&
    (SIGN_MESSAGE in features || SIGN_TRANSACTION in features)
  );
}

/** The account that the user selects. @throws Error if none is shared, or it is on another network */
export async function connect(wallet, network) {
  const { accounts } = await wallet.features[CONNECT].connect();
  const account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith("solana:")));
  if (account === undefined) throw new Error(`${wallet.name} shared no Solana account.`);
  // Few wallets know localnet, and signing a text does not depend on the network.
  if (network !== "localnet" && !account.chains.includes(`solana:${network}`)) {
    throw new Error(
      `${wallet.name} is on another network: this service trades on ${network}. Switch the wallet to ${network} and connect again.`,
    );
  }
  return account;
}

/** Signs a text. @throws Error if the wallet cannot, or signs something else */
export async function signText(wallet, account, text) {
  const feature = wallet.features[SIGN_MESSAGE];
  if (feature === undefined) throw new Error(`${wallet.name} cannot sign texts. Tick "Hardware wallet" and try again.`);
  const message = new TextEncoder().encode(text);
  const [{ signedMessage, signature }] = await feature.signMessage({ account, message });
  if (!equal(signedMessage, message)) throw new Error(`${wallet.name} signed something other than the given text.`);
  return signature;
}

/** Signs a transaction whose only memo is the text. It has no blockhash, so it can never be sent. @throws Error if the wallet cannot, or changes it */
export async function signMemo(wallet, account, text, network) {
  const message = memoMessage(account.publicKey, text);
  const transaction = new Uint8Array([1, ...new Uint8Array(64), ...message]);
  return (await signTransaction(wallet, account, transaction, network)).slice(1, 65);
}

/** The transaction with the account's signature on exactly these bytes. @throws Error if the wallet cannot, or changes it */
export async function signTransaction(wallet, account, transaction, network) {
  const feature = wallet.features[SIGN_TRANSACTION];
  if (feature === undefined) throw new Error(`${wallet.name} cannot sign transactions.`);
  // Wallets try a transaction on the chain named. Few know localnet: there, any other one that they know.
  const chains = account.chains.filter((chain) => chain.startsWith("solana:"));
  const chain = chains.find((one) => one === `solana:${network}`) ?? chains[0];
  const [{ signedTransaction }] = await feature.signTransaction({ account, transaction, chain });
  if (!equal(signedTransaction.slice(65), transaction.slice(65))) {
    throw new Error(`${wallet.name} changed the transaction. It was not submitted.`);
  }
  return signedTransaction;
}

// MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr
const MEMO_PROGRAM = [
  5, 74, 83, 90, 153, 41, 33, 6, 77, 36, 232, 113, 96, 218, 56, 124, 124, 53, 181, 221, 188, 146, 187, 129, 228, 31,
  168, 64, 65, 5, 68, 141,
];

function memoMessage(publicKey, text) {
  const memo = new TextEncoder().encode(text);
  const length = memo.length < 0x80 ? [memo.length] : [(memo.length & 0x7f) | 0x80, memo.length >> 7];
  return new Uint8Array([
    ...[1, 0, 1],
    ...[2, ...publicKey, ...MEMO_PROGRAM],
    ...new Uint8Array(32),
    ...[1, 1, 1, 0, ...length, ...memo],
  ]);
}

/** False of a wallet that signs transactions alone. */
export const canSignText = (wallet) => SIGN_MESSAGE in wallet.features;

const equal = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Encodes bytes in base58. */
export function base58(bytes) {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + text;
}
