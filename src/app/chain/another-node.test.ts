import { expect, test } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createAccountReader } from "../../chain/rpc/accounts/account-reader.ts";
import { NodeError } from "../../chain/rpc/node-error.ts";
import { createRpcPool } from "../../chain/rpc/rpc-pool.ts";
import { MintProofs } from "../../market/search/mints/mint-proofs.ts";
import { Address } from "../../primitives/address.ts";
import { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { anotherNode } from "./another-node.ts";

const mints = Array.from({ length: 6 }, (_, i) => Address.from(new Uint8Array(32).fill(20 + i)));
const unknown = Address.from(new Uint8Array(32).fill(9));
const data = Buffer.alloc(82);
data[45] = 1;
const account = (owner: Address) => ({
  data: [data.toString("base64"), "base64"],
  owner: owner.toString(),
  lamports: 1,
  executable: false,
  rentEpoch: 0,
});

type Word = "honest" | "no account" | "other account" | "away";

function node(says: Word, name: string): FakeEndpoint {
  return fakeEndpoint(
    {
      getMultipleAccounts(addresses: readonly string[]) {
        if (says === "away") throw new NodeError("unreachable", name);
        const value = addresses.map((address) => {
          if (!mints.some((mint) => mint.toString() === address) || says === "no account") return null;
          return account(says === "honest" ? TOKEN_PROGRAM : SYSTEM_PROGRAM);
        });
        return { context: { slot: 5 }, value };
      },
    },
    name,
  );
}

function proofsOver(words: readonly Word[]) {
  const endpoints = words.map((says, i) => node(says, `node ${i}`));
  const pool = createRpcPool({ endpoints, now: () => 0, warn: () => {} });
  const proofs = new MintProofs({
    reader: createAccountReader({ pool, commitment: "processed" }),
    another: anotherNode(pool, () => true),
    pace: new OneATurn(),
    now: () => 0,
    networkOf: (address) => address,
    negativeMs: 1_000,
  });
  const isMint = async (mint: Address) => (await proofs.prove(mint, undefined)).account !== null;
  return { endpoints, proofs, isMint };
}

test.each<{ readonly words: readonly Word[] }>([
  { words: ["no account", "honest"] },
  { words: ["honest", "other account"] },
  { words: ["honest", "no account", "honest"] },
  { words: ["honest", "honest", "other account"] },
])("no single node makes a mint missing: $words", async ({ words }) => {
  const { proofs, isMint } = proofsOver(words);
  for (const mint of mints) {
    expect(await isMint(mint)).toBe(true);
    expect(proofs.isAbsent(mint)).toBe(false);
  }
  expect(await isMint(unknown)).toBe(false);
  proofs.close();
});

test("a mint that is there takes one call, one that is missing two, of two nodes", async () => {
  const { endpoints, proofs, isMint } = proofsOver(["honest", "honest", "honest"]);
  const calls = () => endpoints.map((one) => one.countOf("getMultipleAccounts")).sort();
  expect(await isMint(mints[0]!)).toBe(true);
  expect(calls()).toEqual([0, 0, 1]);
  expect(await isMint(unknown)).toBe(false);
  expect(calls()).toEqual([1, 1, 1]);
  proofs.close();
});

test("while the others are away, one node's word counts", async () => {
  for (const words of [["no account", "away"], ["away", "no account"], ["no account"]] as const) {
    const { proofs, isMint } = proofsOver(words);
    expect(await isMint(mints[0]!)).toBe(false);
    proofs.close();
  }
});
