import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { ShadowSvm } from "./shadow-svm.ts";
import { SHADOW_WALLET } from "./synthetic-wallet.ts";

const ID = Address.from(new Uint8Array(32).fill(9));
const code = readFileSync(new URL("../../sandbox/programs/raydium_cpmm.so", import.meta.url));
const NOT_LOADED = "Unsupported program id";

test.each([true, false])(
  "a program runs at any slot, however late the one was at which it was loaded (%s)",
  (isUpgradeable) => {
    // Workers share the runtime, and one may see a slot or two more of the chain than another.
    const svm = new ShadowSvm([], undefined);
    const runAt = (slot: bigint) => {
      svm.setClock({ slot, epoch: 0n, unixTimestamp: 0n });
      svm.put({
        address: SHADOW_WALLET,
        lamports: 10n ** 9n,
        data: new Uint8Array(0),
        owner: Address.from(new Uint8Array(32)),
        executable: false,
      });
      return svm.simulate(SHADOW_WALLET, [{ program: ID, accounts: [], data: new Uint8Array(8) }]).failure;
    };
    expect(runAt(100n)).not.toBeUndefined();
    svm.load({ id: ID, slot: 100n, isUpgradeable, code });
    for (const slot of [101n, 100n, 99n, 1n]) expect(runAt(slot), `slot ${slot}`).not.toContain(NOT_LOADED);
  },
);
