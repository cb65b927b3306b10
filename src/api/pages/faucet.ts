import { shownName } from "../../errors/shown-name.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { Documents } from "./documents.ts";

/** Gives SOL of a test chain to a wallet. Resolves to false if the chain lets the address receive none. */
export type GiveSol = (wallet: Address) => Promise<boolean>;

/** Serves the faucet of a test chain: `POST /faucet {"walletAddress": …}`. */
export function registerFaucet(documents: Documents, giveSol: GiveSol): void {
  documents.serveAction("/faucet", async ({ walletAddress, ...others }) => {
    for (const name in others) {
      throw invalidField(
        shownName(name),
        `${shownName(name)} is not a field of this request. Its field is walletAddress.`,
      );
    }
    const wallet = typeof walletAddress === "string" ? Address.parse(walletAddress) : undefined;
    if (wallet === undefined)
      throw invalidField("walletAddress", "walletAddress is not an address: 32 bytes in base58.");
    if (!(await giveSol(wallet)))
      throw invalidField("walletAddress", `${wallet} is not a wallet: the chain lets it receive no SOL.`);
    return { walletAddress: wallet.toString(), sol: FAUCET_SOL };
  });
}

/** What the faucet gives at a time. */
export const FAUCET_SOL = 10;
