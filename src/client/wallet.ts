import bs58 from "bs58";
import { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/bytes.ts";
import { publicKeyOf, signMessage } from "./ed25519.ts";
import { messageOf, withSignature } from "./wire-layout.ts";

/** Somebody who can sign. The library hands over bytes and gets back 64 bytes of Ed25519; it never sees a key. */
export interface Wallet {
  readonly publicKey: Address;
  signMessageBytes(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** For wallets that sign transactions only as such: the wire transaction with its signature in place. */
  signTransaction?(unsigned: Uint8Array): Promise<Uint8Array>;
}

/** Any signer of one's own: its address as anything that writes itself in base58. */
export interface MessageSigner {
  readonly publicKey: { toString(): string };
  signMessageBytes(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A `Keypair` of @solana/web3.js. */
export interface KeypairLike {
  readonly publicKey: { toString(): string };
  readonly secretKey: Uint8Array;
}

/** A signer of @solana/kit that signs messages and transactions. */
export interface KitSignerLike {
  readonly address: string;
  signMessages(
    messages: readonly { readonly content: Uint8Array; readonly signatures: Readonly<Record<string, never>> }[],
  ): Promise<readonly Readonly<Record<string, Uint8Array>>[]>;
  signTransactions(transactions: readonly never[]): Promise<readonly Readonly<Record<string, Uint8Array>>[]>;
}

/** A wallet of the Wallet Standard, connected, with the Solana features. */
export interface StandardWalletLike {
  readonly accounts: readonly { readonly address: string; readonly publicKey: ArrayLike<number> }[];
  readonly features: Readonly<Record<string, unknown>>;
}

/** Everything the library takes for a wallet; a text is a base58 private key. */
export type WalletLike = string | Wallet | MessageSigner | KeypairLike | KitSignerLike | StandardWalletLike;

/**
 * A wallet of a base58 private key: the 32-byte seed, or the 64 bytes of seed and public key that wallets export. The key
 * stays in this object.
 *
 * @throws TypeError when the text is neither; it is never repeated in the message
 */
export function fromBase58(privateKey: string): Wallet {
  const bytes = bs58.decodeUnsafe(privateKey.trim());
  if (bytes === undefined || (bytes.length !== 32 && bytes.length !== 64)) {
    throw new TypeError("A private key is 32 or 64 bytes written in base58.");
  }
  return fromKeyBytes(bytes);
}

/** A wallet of anything that can sign. @throws TypeError when it is none of the known forms */
export function toWallet(wallet: WalletLike): Wallet {
  if (typeof wallet === "string") return fromBase58(wallet);
  if ("signMessageBytes" in wallet) {
    return {
      publicKey: addressOf(wallet.publicKey),
      signMessageBytes: (message) => wallet.signMessageBytes(message),
      ...("signTransaction" in wallet && wallet.signTransaction !== undefined
        ? { signTransaction: (unsigned: Uint8Array) => wallet.signTransaction!(unsigned) }
        : {}),
    };
  }
  if ("secretKey" in wallet) return fromKeyBytes(wallet.secretKey);
  if ("signTransactions" in wallet) return fromKitSigner(wallet);
  if ("features" in wallet) return fromStandardWallet(wallet);
  throw new TypeError("A wallet is a base58 private key, or an object that can sign.");
}

function fromKeyBytes(bytes: Uint8Array): Wallet {
  const seed = bytes.slice(0, 32);
  const publicKey = publicKeyOf(seed);
  if (bytes.length === 64 && !equalBytes(bytes.subarray(32), publicKey)) {
    throw new TypeError("The public half of the private key does not belong to its first half.");
  }
  return {
    publicKey: Address.from(publicKey),
    signMessageBytes: (message) => signMessage(message, seed),
  };
}

function fromKitSigner(signer: KitSignerLike): Wallet {
  const signatureOf = (signed: readonly Readonly<Record<string, Uint8Array>>[]): Uint8Array => {
    const signature = signed[0]?.[signer.address];
    if (signature === undefined) throw new TypeError(`The signer returned no signature of ${signer.address}.`);
    return signature;
  };
  return {
    publicKey: addressOf(signer.address),
    signMessageBytes: async (content) => signatureOf(await signer.signMessages([{ content, signatures: {} }])),
    signTransaction: async (unsigned) => {
      const transaction = { messageBytes: messageOf(unsigned).slice(), signatures: { [signer.address]: null } };
      return withSignature(unsigned, signatureOf(await signer.signTransactions([transaction as never])));
    },
  };
}

interface SignTransactionFeature {
  signTransaction(input: {
    readonly account: unknown;
    readonly transaction: Uint8Array;
  }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
}

interface SignMessageFeature {
  signMessage(input: {
    readonly account: unknown;
    readonly message: Uint8Array;
  }): Promise<readonly { readonly signature: Uint8Array }[]>;
}

/** Such wallets show a transaction to their owner, and sign it only as a transaction. */
function fromStandardWallet({ accounts, features }: StandardWalletLike): Wallet {
  const [account] = accounts;
  if (account === undefined) throw new TypeError("The wallet is not connected: it shows no account.");
  const feature = <F>(name: string): F => {
    const found = features[name];
    if (found === undefined) throw new TypeError(`The wallet cannot do ${name}.`);
    return found as F;
  };
  return {
    publicKey: addressOf(account.address),
    async signMessageBytes(message) {
      const [signed] = await feature<SignMessageFeature>("solana:signMessage").signMessage({ account, message });
      if (signed === undefined) throw new TypeError("The wallet returned no signature.");
      return signed.signature;
    },
    async signTransaction(transaction) {
      const signing = feature<SignTransactionFeature>("solana:signTransaction");
      const [signed] = await signing.signTransaction({ account, transaction });
      if (signed === undefined) throw new TypeError("The wallet returned no transaction.");
      return signed.signedTransaction;
    },
  };
}

function addressOf(key: { toString(): string }): Address {
  const address = Address.parse(key.toString());
  if (address === undefined) throw new TypeError("The wallet's public key is no base58 address.");
  return address;
}
