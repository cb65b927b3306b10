// A wallet made in this page, for test chains: its key is in this tab's memory and nowhere else.

import { getPublicKey, hashes, sign } from "/assets/modules/lib/@noble/ed25519/index.js";
import { sha512 } from "/assets/modules/lib/@noble/hashes/sha2.js";
import { base58 } from "./wallets.js";

hashes.sha512 = sha512;

const FEATURES = ["solana:signMessage", "solana:signTransaction"];

/** Makes a wallet in the form of the Wallet Standard, with a fresh key. `secretKey` is what other wallets import, in base58; `signBytes` signs a transaction without asking. */
export function createThrowawayWallet() {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const publicKey = getPublicKey(seed);
  const chains = ["solana:localnet", "solana:devnet", "solana:testnet"];
  const account = { address: base58(publicKey), publicKey, chains, features: FEATURES };
  const signBytes = (transaction) => {
    const signed = Uint8Array.from(transaction);
    signed.set(sign(transaction.subarray(65), seed), 1);
    return signed;
  };
  return {
    version: "1.0.0",
    name: "Throwaway wallet",
    chains,
    accounts: [account],
    secretKey: base58(Uint8Array.from([...seed, ...publicKey])),
    signBytes,
    features: {
      "standard:connect": { version: "1.0.0", connect: async () => ({ accounts: [account] }) },
      "solana:signMessage": {
        version: "1.0.0",
        signMessage: async (...inputs) =>
          inputs.map(({ message }) => ({ signedMessage: message, signature: sign(message, seed) })),
      },
      "solana:signTransaction": {
        version: "1.0.0",
        supportedTransactionVersions: ["legacy", 0],
        signTransaction: async (...inputs) =>
          inputs.map(({ transaction }) => ({ signedTransaction: signBytes(transaction) })),
      },
    },
  };
}
