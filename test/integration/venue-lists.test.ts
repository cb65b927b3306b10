import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readVenueFolders } from "../../scripts/venue-folders.ts";
import { updateList, type VenueList, venueLists } from "../../scripts/venue-lists.ts";
import type { ProgramFilter } from "../../src/chain/port.ts";
import { createAccountReader } from "../../src/chain/rpc/accounts/account-reader.ts";
import { createRpcEndpoint } from "../../src/chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../../src/chain/rpc/rpc-pool.ts";
import { Address } from "../../src/primitives/address.ts";
import { equalBytes, hex } from "../../src/primitives/bytes.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { Account } from "../../src/solana/account.ts";
import { startFakeNode } from "../support/fake-node.ts";

const lists = venueLists(await readVenueFolders());
const listOf = (constant: string): VenueList => lists.find((list) => list.constant === constant)!;
const sourceOf = ({ file }: VenueList): string => readFileSync(file, "utf8");
const addressAt = (index: number): Address => Address.from(new Uint8Array(32).fill(index + 1));

/** A chain that holds these accounts, found by their first bytes and the rest of the filter. */
function chainOf(accounts: readonly Account[]) {
  return {
    async fetchProgramAccounts({ program, memcmp }: ProgramFilter) {
      return accounts.filter(
        ({ owner, data }) =>
          owner === program &&
          memcmp.every(({ offset, bytes }) => equalBytes(data.subarray(offset, offset + bytes.length), bytes)),
      );
    },
  };
}

function accountOf(list: VenueList, kind: number, address: Address, fill: (data: Uint8Array) => void): Account {
  const data = new Uint8Array(400);
  data.set(hex(list.kinds[kind]!.discriminator));
  for (const { offset, bytes } of list.kinds[kind]!.memcmp ?? []) data.set(bytes, offset);
  fill(data);
  return { address, owner: list.program, lamports: 1n, data, executable: false, slot: 1n };
}

const u16At =
  (offset: number, value: number) =>
  (data: Uint8Array): void => {
    new DataView(data.buffer).setUint16(offset, value, true);
  };

describe("lists of the venues, from a node", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());

  function readerOf(url: string) {
    const endpoint = createRpcEndpoint({ url, now: Date.now });
    const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => undefined });
    return createAccountReader({ pool, commitment: "confirmed" });
  }

  it("are read by getProgramAccounts: the embedded chain's fee configurations", async () => {
    const list = listOf("CPMM_CONFIG_INDICES");
    const update = await updateList(readerOf(sandbox.rpcUrl), list, sourceOf(list));
    expect(update!.added).toEqual([]);
    expect(update!.source).toContain("export const CPMM_CONFIG_INDICES: readonly number[] = [0, 1, 2, 3];");
    const again = await updateList(readerOf(sandbox.rpcUrl), list, update!.source);
    expect(again).toMatchObject({ added: [], removed: [], source: update!.source });
  });

  it("stay unchanged if the chain has none of them, as on another network", async () => {
    const list = listOf("DAMM_V2_PUBLIC_CONFIGS");
    await expect(updateList(readerOf(sandbox.rpcUrl), list, sourceOf(list))).rejects.toThrow("wrong network");
  });

  it("distinguish a refusing node from an empty chain", async () => {
    const node = await startFakeNode({});
    try {
      const list = listOf("CLMM_CONFIG_INDICES");
      expect(await updateList(readerOf(node.url), list, sourceOf(list))).toBeUndefined();
    } finally {
      await node.close();
    }
  });
});

describe("a list brought up to date", () => {
  it("keeps known numbers, adds new ones in order and drops missing ones", async () => {
    const list = listOf("WHIRLPOOL_FEE_TIERS");
    const ordinary = [64, 1, 7].map((tier, index) => accountOf(list, 0, addressAt(index), u16At(40, tier)));
    const adaptive = [1_025, 1_024].map((tier, index) => accountOf(list, 1, addressAt(9 + index), u16At(40, tier)));
    const elsewhere = accountOf(list, 0, addressAt(20), (data) => {
      u16At(40, 512)(data);
      data[8] = 0;
    });
    const update = await updateList(chainOf([...ordinary, ...adaptive, elsewhere]), list, sourceOf(list));
    expect(update!.added).toEqual(["7", "1024", "1025"]);
    expect(update!.removed).toContain("32896");
    expect(update!.source).toContain("WHIRLPOOL_FEE_TIERS: readonly number[] = [1, 64, 7, 1024, 1025];");
    expect(update!.source.slice(0, 100)).toBe(sourceOf(list).slice(0, 100));
  });

  it("addresses, of configurations that anybody may use", async () => {
    const list = listOf("DAMM_V2_PUBLIC_CONFIGS");
    const first = Address.of("8CNy9goNQNLM4wtgRw528tUQGMKD3vSuFRZY2gLGLLvF");
    const at = (index: number) => (data: Uint8Array) =>
      new DataView(data.buffer).setBigUint64(208, BigInt(index), true);
    const chain = chainOf([
      accountOf(list, 0, addressAt(2), at(900)),
      accountOf(list, 0, addressAt(1), at(800)),
      accountOf(list, 0, first, at(0)),
      accountOf(list, 0, addressAt(3), (data) => data.fill(1, 40, 72)),
    ]);
    const update = await updateList(chain, list, sourceOf(list));
    expect(update!.added).toEqual([addressAt(1).toString(), addressAt(2).toString()]);
    expect(update!.source).toContain(
      `PUBLIC_CONFIGS: readonly string[] = [\n  "${first}",\n  "${addressAt(1)}",\n  "${addressAt(2)}",\n];`,
    );
    // The other list of the same file is left alone.
    expect(update!.source).toContain("7F6dnUcRuyM2TwR8myT1dYypFXpPSxqwKNSFNkxyNESd");
  });

  it("a count, by the largest index", async () => {
    const list = listOf("DLMM_PRESET_COUNT");
    const chain = chainOf([3, 90, 12].map((index) => accountOf(list, 0, addressAt(index), u16At(28, index))));
    const update = await updateList(chain, list, sourceOf(list));
    expect(update!.source).toContain("export const DLMM_PRESET_COUNT = 91;");
    expect(update!.source).toContain("DLMM_LAUNCH_BASE");
  });

  it("names every list in a file of its venue, once", () => {
    expect(lists).toHaveLength(6);
    for (const list of lists) expect(sourceOf(list).split(`export const ${list.constant}`)).toHaveLength(2);
  });
});
