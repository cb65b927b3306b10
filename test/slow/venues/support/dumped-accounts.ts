import { readdirSync, readFileSync } from "node:fs";
import { Address } from "../../../../src/primitives/address.ts";
import type { Svm } from "../../../support/svm.ts";

interface DumpedAccount {
  readonly pubkey: string;
  readonly account: {
    readonly lamports: number;
    readonly data: readonly [string, string];
    readonly owner: string;
    readonly executable: boolean;
  };
}

/** Puts every account dumped into `folder` (one JSON file each, as `solana account --output json` writes them) on the chain. */
export function loadDumpedAccounts(svm: Svm, folder: string): Address[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => {
      const { pubkey, account } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as DumpedAccount;
      return svm.setAccount({
        address: Address.of(pubkey),
        owner: Address.of(account.owner),
        data: Uint8Array.from(Buffer.from(account.data[0], "base64")),
        lamports: BigInt(account.lamports),
        executable: account.executable,
      });
    });
}
