import { afterEach, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { derive } from "../../solana/pda.ts";
import { UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import type { DeployedProgram } from "../port.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { createProgramReader } from "./program-reader.ts";
import { createProgramWatch, type ProgramWatch } from "./program-watch.ts";

const [present, absent] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const [presentCode, absentCode] = [present, absent].map((id) => derive(UPGRADEABLE_LOADER, id)) as [Address, Address];

let watch: ProgramWatch;
afterEach(() => watch.close());

/** A program's account: it points to its code. */
function pointerTo(code: Address): Buffer {
  const data = Buffer.alloc(36);
  data.writeUInt32LE(2, 0);
  data.set(code.bytes, 4);
  return data;
}

function codeAt(slot: number): Buffer {
  const data = Buffer.alloc(100);
  data.writeUInt32LE(3, 0);
  data.writeBigUInt64LE(BigInt(slot), 4);
  return data;
}

/** A watch over one node, whose accounts and calls are the test's. */
function startWatch(accounts: Map<Address, { readonly data: Buffer; readonly executable: boolean }>) {
  const calls: (readonly string[])[] = [];
  const pool = {
    endpoints: [{ name: "node" }],
    async read(_method: string, [addresses, config]: [readonly string[], { dataSlice?: { length: number } }]) {
      calls.push(addresses);
      const value = addresses.map((address) => {
        const account = accounts.get(Address.of(address));
        if (account === undefined) return null;
        const data = account.data.subarray(0, config.dataSlice?.length ?? account.data.length).toString("base64");
        const { executable } = account;
        const owner = UPGRADEABLE_LOADER.toString();
        return { data: [data, "base64"], owner, lamports: 1, executable, rentEpoch: 0, space: account.data.length };
      });
      return { context: { slot: 9 }, value };
    },
  } as unknown as RpcPool;
  const programs = createProgramReader({ pool, commitment: "processed" });
  const subscriptions = { subscribe: () => () => {}, doubt: () => false, host: () => undefined };
  const replaced: DeployedProgram[] = [];
  watch = createProgramWatch({
    reader: programs,
    subscriptions,
    commitment: "processed",
    now: Date.now,
    warn: () => {},
    contradict: () => {},
    pollMs: 1e9,
  });
  watch.onReplaced((deployed) => replaced.push(deployed));
  return { calls, replaced };
}

test("programs that are absent are asked about in the call that reads deployments, and followed once they are there", async () => {
  const accounts = new Map([
    [present, { data: pointerTo(presentCode), executable: true }],
    [presentCode, { data: codeAt(5), executable: false }],
  ]);
  const { calls, replaced } = startWatch(accounts);
  await watch.follow([present, absent]);
  expect([watch.get(present)?.slot, watch.get(absent)]).toEqual([5n, null]);
  calls.length = 0;
  await watch.refresh();
  expect(calls).toEqual([[presentCode.toString(), absent.toString()]]);

  accounts.set(absent, { data: pointerTo(absentCode), executable: true });
  accounts.set(absentCode, { data: codeAt(7), executable: false });
  accounts.set(presentCode, { data: codeAt(6), executable: false });
  await watch.refresh();
  expect(watch.get(absent)).toMatchObject({ slot: 7n, isUpgradeable: true, codeAddress: absentCode });
  expect(replaced).toEqual([{ ...watch.get(present), slot: 6n }]);
});

test("an account that is no program stays absent, and costs no further call", async () => {
  const { calls } = startWatch(new Map([[absent, { data: codeAt(5), executable: false }]]));
  await watch.follow([absent]);
  calls.length = 0;
  await watch.refresh();
  expect([watch.get(absent), calls.length]).toEqual([null, 1]);
});

test("a program that points to code elsewhere than the loader keeps it is none", async () => {
  startWatch(
    new Map([
      [present, { data: pointerTo(absentCode), executable: true }],
      [absentCode, { data: codeAt(5), executable: false }],
    ]),
  );
  await watch.follow([present]);
  expect(watch.get(present)).toBeNull();
});
