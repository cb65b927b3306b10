import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import type { DeployedProgram } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { ReadOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { CODE_HEADER_BYTES } from "./deployment.ts";
import { createProgramReader } from "./program-reader.ts";

const DEPLOYED: DeployedProgram = {
  id: Address.from(new Uint8Array(32).fill(7)),
  isUpgradeable: true,
  codeAddress: Address.from(new Uint8Array(32).fill(8)),
  slot: 5n,
};
/** More than one slice. */
const CODE = Uint8Array.from({ length: 600_000 }, (_, i) => (i * 31) & 0xff);

/** What one node has: the code account's data, nothing, or no answer at all. */
type NodeState = Uint8Array | null | "silent";

function accountData(code: Uint8Array, slot = 5): Uint8Array {
  const data = Buffer.alloc(CODE_HEADER_BYTES + code.length);
  data.writeUInt32LE(3, 0);
  data.writeBigUInt64LE(BigInt(slot), 4);
  data.set(code, CODE_HEADER_BYTES);
  return data;
}

/** A reader over nodes that have these states. */
function readerOver(...states: readonly NodeState[]) {
  return readerTrusting(undefined, states);
}

function readerTrusting(trustedNode: number | undefined, states: readonly NodeState[]) {
  const endpoints = states.map((_, i) => ({ name: `node ${i}` }) as RpcEndpoint);
  const pool = {
    endpoints,
    async read(_method: string, params: readonly unknown[], { only }: ReadOptions = {}) {
      const state = states[only === undefined ? 0 : endpoints.indexOf(only)];
      if (state === "silent") throw new Error("no answer");
      const { dataSlice } = params[1] as { readonly dataSlice: { readonly offset: number; readonly length: number } };
      const { offset, length } = dataSlice;
      const value =
        state === null || state === undefined
          ? null
          : {
              data: [Buffer.from(state.subarray(offset, offset + length)).toString("base64"), "base64"],
              owner: UPGRADEABLE_LOADER.toString(),
              lamports: 1,
              executable: false,
              rentEpoch: 0,
              space: state.length,
            };
      return { context: { slot: 9 }, value: [value] };
    },
  } as unknown as RpcPool;
  const trusted = trustedNode === undefined ? undefined : endpoints[trustedNode];
  return createProgramReader({ pool, trusted, commitment: "processed" });
}

/** The message for operators; callers see less. */
const CONTRADICTION = { cause: { message: expect.stringContaining("nodes disagree on the code") } };

const altered = Uint8Array.from(CODE);
altered[599_999]! ^= 1;

describe("the code of a program", () => {
  it("is what one node has, if there is only one", async () => {
    const code = await readerOver(accountData(CODE)).fetchCode(DEPLOYED);
    expect(Buffer.compare(code!, CODE)).toBe(0);
  });

  it("is what two nodes have alike", async () => {
    const code = await readerOver(accountData(CODE), accountData(CODE)).fetchCode(DEPLOYED);
    expect(Buffer.compare(code!, CODE)).toBe(0);
  });

  it("is nothing that two nodes contradict each other about, by a bit of its last byte", async () => {
    const reading = readerOver(accountData(CODE), accountData(altered)).fetchCode(DEPLOYED);
    await expect(reading).rejects.toMatchObject(CONTRADICTION);
  });

  it("is what two of three nodes have, wherever the one that lies stands", async () => {
    for (const liar of [0, 1, 2]) {
      const states = [0, 1, 2].map((node) => accountData(node === liar ? altered : CODE));
      const code = await readerOver(...states).fetchCode(DEPLOYED);
      expect(Buffer.compare(code!, CODE)).toBe(0);
    }
    const other = Uint8Array.from(altered).fill(1, 0, 9);
    const reading = readerOver(accountData(CODE), accountData(altered), accountData(other)).fetchCode(DEPLOYED);
    await expect(reading).rejects.toMatchObject(CONTRADICTION);
  });

  it("is asked of a third node if one is silent or lags", async () => {
    for (const useless of ["silent", accountData(altered, 4), null] as const) {
      const reading = readerOver(useless, accountData(CODE), accountData(altered)).fetchCode(DEPLOYED);
      await expect(reading).rejects.toMatchObject(CONTRADICTION);
      const code = await readerOver(useless, accountData(CODE), accountData(CODE)).fetchCode(DEPLOYED);
      expect(Buffer.compare(code!, CODE)).toBe(0);
    }
  });

  it("is what one node has only if no other answers: not if one shows another deployment, or none", async () => {
    const code = await readerOver("silent", accountData(CODE)).fetchCode(DEPLOYED);
    expect(Buffer.compare(code!, CODE)).toBe(0);
    for (const other of [accountData(CODE, 4), accountData(CODE, 6), null])
      for (const states of [[other, accountData(CODE)] as const, [accountData(CODE), other] as const])
        expect(await readerOver(...states).fetchCode(DEPLOYED)).toBeUndefined();
  });

  it("is what the trusted node has, whatever the others say", async () => {
    const reader = readerTrusting(2, [accountData(altered), accountData(CODE, 6), accountData(CODE)]);
    expect(Buffer.compare((await reader.fetchCode(DEPLOYED))!, CODE)).toBe(0);
  });

  it("is unknown if it was replaced meanwhile, and an error if no node answers", async () => {
    expect(await readerOver(accountData(CODE, 6), accountData(CODE, 6)).fetchCode(DEPLOYED)).toBeUndefined();
    await expect(readerOver("silent", "silent").fetchCode(DEPLOYED)).rejects.toThrow("no answer");
  });
});
