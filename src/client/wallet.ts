import { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/bytes.ts";
import { decodeBase58 } from "../primitives/encoding/base58.ts";
import { publicKeyOf, signMessage } from "./signature/ed25519.ts";
import { messageOf, withSignature } from "./signature/wire-layout.ts";

/** A signer. It receives bytes and returns a 64-byte Ed25519 signature; the library never sees its key. */
export interface Wallet {
  readonly publicKey: Address;
  signMessageBytes(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** For wallets that sign only whole transactions: returns the wire transaction with the signature in place. */
  signTransaction?(unsigned: Uint8Array): Promise<Uint8Array>;
  /** False if it cannot sign version 1 transactions: the service is then asked for others. */
  readonly signsVersion1?: boolean | undefined;
}

/** A custom signer. Its public key is anything whose `toString` gives base58. */
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

/** A connected Wallet Standard wallet with the Solana features. */
export interface StandardWalletLike {
  readonly accounts: readonly { readonly address: string; readonly publicKey: ArrayLike<number> }[];
  readonly features: Readonly<Record<string, unknown>>;
}

/** Every supported form of wallet; a string is a base58 private key. */
export type WalletLike = string | Wallet | MessageSigner | KeypairLike | KitSignerLike | StandardWalletLike;

/**
 * A wallet from a base58 private key: a 32-byte seed, or the 64 bytes of seed and public key that wallets export. The key
 * stays in this object.
 *
 * @throws TypeError if the text is neither; the message never repeats it
 */
export function fromBase58(privateKey: string): Wallet {
  const bytes = decodeBase58(privateKey.trim(), 64);
  if (bytes === undefined) throw new TypeError(NO_KEY);
  return fromKeyBytes(bytes);
}

/** The wallet of any supported signer. @throws TypeError for an unsupported form */
export function toWallet(wallet: WalletLike): Wallet {
  if (typeof wallet === "string") return fromBase58(wallet);
  if ("signMessageBytes" in wallet) {
    return {
      publicKey: addressOf(wallet.publicKey),
      signMessageBytes: (message) => wallet.signMessageBytes(message),
      ...("signTransaction" in wallet && wallet.signTransaction !== undefined
        ? { signTransaction: (unsigned: Uint8Array) => wallet.signTransaction!(unsigned) }
        : {}),
      ...("signsVersion1" in wallet ? { signsVersion1: wallet.signsVersion1 } : {}),
    };
  }
  if ("secretKey" in wallet) return fromKeyBytes(wallet.secretKey);
  if ("signTransactions" in wallet) return fromKitSigner(wallet);
  if ("features" in wallet) return fromStandardWallet(wallet);
  throw new TypeError("A wallet is a base58 private key, or an object that can sign.");
}

const NO_KEY = "A private key is 32 or 64 bytes in base58.";

function fromKeyBytes(bytes: Uint8Array): Wallet {
  if (bytes.length !== 32 && bytes.length !== 64) throw new TypeError(NO_KEY);
  const seed = bytes.slice(0, 32);
  const publicKey = publicKeyOf(seed);
  if (bytes.length === 64 && !equalBytes(bytes.subarray(32), publicKey)) {
    throw new TypeError("The private key is inconsistent: its public key does not match its seed.");
  }
  return {
    publicKey: Address.from(publicKey),
    signMessageBytes: (message) => signMessage(message, seed),
  };
}

function fromKitSigner(signer: KitSignerLike): Wallet {
  const signatureOf = (signed: readonly Readonly<Record<string, Uint8Array>>[]): Uint8Array => {
    const signature = signed[0]?.[signer.address];
    if (signature === undefined) throw new TypeError(`The signer returned no signature for ${signer.address}.`);
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
  readonly supportedTransactionVersions?: readonly unknown[];
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

/** These wallets show the transaction to their owner and sign only whole transactions. */
function fromStandardWallet({ accounts, features }: StandardWalletLike): Wallet {
  const [account] = accounts;
  if (account === undefined) throw new TypeError("The wallet is not connected: it lists no account.");
  const feature = <F>(name: string): F => {
    const found = features[name];
    if (found === undefined) throw new TypeError(`The wallet does not support ${name}.`);
    return found as F;
  };
  return {
    publicKey: addressOf(account.address),
    signsVersion1: (
      features["solana:signTransaction"] as SignTransactionFeature | undefined
    )?.supportedTransactionVersions?.includes(1),
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
  if (address === undefined) throw new TypeError("The wallet's public key is not a base58 address.");
  return address;
}
