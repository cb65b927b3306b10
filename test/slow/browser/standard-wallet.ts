import type { Page } from "playwright-core";
import type { TestWallet } from "../../support/wallet.ts";

/** What the wallet's owner does, and what the wallet is like. */
export interface WalletConduct {
  readonly chains?: readonly string[];
  /** The owner presses "reject" on this; "released": on a transaction, once `testWalletRelease()` has been called. */
  readonly rejects?: "connect" | "sign" | "transaction" | "released";
  /** Signs a transaction only once the page's `testWalletRelease()` has been called. */
  readonly holds?: boolean;
  /** A hardware wallet: signs transactions, never texts. */
  readonly hardware?: boolean;
}

/**
 * Puts a Wallet Standard wallet into the page before its scripts run. The wallet lives in the page as any extension's
 * does; its signatures are made here, by the real key.
 */
export async function injectWallet(page: Page, wallet: TestWallet, conduct: WalletConduct = {}): Promise<void> {
  await page.exposeFunction("testWalletSign", (bytes: number[]) => [...wallet.sign(Uint8Array.from(bytes))]);
  await page.addInitScript(
    ({ address, publicKey, chains, rejects, hardware, holds }) => {
      const shared = window as unknown as Record<string, unknown>;
      const listeners: ((change: object) => void)[] = [];
      const released = new Promise<void>((resolve) => {
        shared.testWalletRelease = resolve;
      });
      const sign = async (bytes: Uint8Array): Promise<Uint8Array> =>
        Uint8Array.from(
          await (window as unknown as { testWalletSign(b: number[]): Promise<number[]> }).testWalletSign([...bytes]),
        );
      const refuse = () => Object.assign(new Error("User rejected the request."), { code: 4001 });
      const account = {
        address,
        publicKey: Uint8Array.from(publicKey),
        chains,
        features: ["solana:signMessage", "solana:signTransaction"],
      };
      const signMessage = {
        version: "1.0.0",
        async signMessage(...inputs: { message: Uint8Array }[]) {
          if (rejects === "sign") throw refuse();
          return Promise.all(
            inputs.map(async ({ message }) => ({ signedMessage: message, signature: await sign(message) })),
          );
        },
      };
      const signTransaction = {
        version: "1.0.0",
        supportedTransactionVersions: ["legacy", 0],
        async signTransaction(...inputs: { transaction: Uint8Array; chain?: string }[]) {
          shared.testWalletChain = inputs[0]!.chain;
          if (rejects === "sign" || rejects === "transaction") throw refuse();
          if (holds) await released;
          if (rejects === "released") throw refuse();
          return Promise.all(
            inputs.map(async ({ transaction }) => {
              const signedTransaction = Uint8Array.from(transaction);
              signedTransaction.set(await sign(transaction.subarray(65)), 1);
              return { signedTransaction };
            }),
          );
        },
      };
      const wallet = {
        version: "1.0.0",
        name: "Test Wallet",
        icon: "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHJlY3Qgd2lkdGg9IjI0IiBoZWlnaHQ9IjI0IiByeD0iNiIgZmlsbD0iIzVhNGZjZiIvPjwvc3ZnPg==",
        chains,
        accounts: [account],
        features: {
          "standard:connect": {
            version: "1.0.0",
            async connect() {
              if (rejects === "connect") throw refuse();
              return { accounts: [account] };
            },
          },
          "standard:events": {
            version: "1.0.0",
            on: (_event: string, listener: (change: object) => void) => listeners.push(listener),
          },
          "solana:signTransaction": signTransaction,
          ...(hardware ? {} : { "solana:signMessage": signMessage }),
        },
      };
      const announce = (api: { register(w: unknown): void }) => api.register(wallet);
      window.addEventListener("wallet-standard:app-ready", (event) =>
        announce((event as CustomEvent<Parameters<typeof announce>[0]>).detail),
      );
      window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: announce }));
      shared.testWallet = wallet;
      shared.testWalletChange = (change: object) => {
        for (const listener of listeners) listener(change);
      };
    },
    {
      address: wallet.address.toString(),
      publicKey: [...wallet.address.bytes],
      chains: [...(conduct.chains ?? ["solana:mainnet", "solana:devnet"])],
      rejects: conduct.rejects,
      hardware: conduct.hardware ?? false,
      holds: conduct.holds ?? false,
    },
  );
}
