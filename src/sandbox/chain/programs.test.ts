import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { binaryPath } from "../programs/manifest.ts";
import { Chain } from "./chain.ts";

const PROGRAM = Address.from(new Uint8Array(32).fill(9));
const FIRST = readFileSync(binaryPath("raydium_cpmm"));
const SECOND = readFileSync(binaryPath("pump_fun"));

function createChain() {
  const chain = new Chain({
    now: () => 1_795_000_000_000,
    startSlot: 1_000,
    genesis: { programs: [{ id: PROGRAM, bytes: FIRST }], accounts: [] },
  });
  const codeAddress = Address.from(chain.account(PROGRAM, "processed")!.data, 4);
  const code = () => chain.account(codeAddress, "processed")!;
  return { chain, code };
}

const deployedIn = ({ data }: Account) => Number(readU64(data, 4));
const elfOf = ({ data }: Account) => Buffer.from(data.subarray(45));

it("serves a program's code with the slot it was deployed in", () => {
  const { chain, code } = createChain();
  expect(chain.account(PROGRAM, "processed")).toMatchObject({ executable: true });
  expect(deployedIn(code())).toBe(1_000);
  expect(elfOf(code()).equals(FIRST)).toBe(true);
});

it("shows an upgrade when its slot is sealed, at each commitment in turn", () => {
  const { chain, code } = createChain();
  for (let i = 0; i < 5; i++) chain.advanceSlot();
  const changed: Account[] = [];
  chain.listen({ changed: (accounts) => changed.push(...accounts) });
  const slot = chain.ledger.tip.slot;
  chain.setProgram(PROGRAM, SECOND);
  expect(deployedIn(code())).toBe(1_000);
  chain.advanceSlot();
  expect(deployedIn(code())).toBe(slot);
  expect(elfOf(code()).equals(SECOND)).toBe(true);
  expect(changed.map(({ address }) => address)).toEqual([code().address]);
  expect(deployedIn(chain.account(code().address, "confirmed")!)).toBe(1_000);
  chain.advanceSlot();
  expect(deployedIn(chain.account(code().address, "confirmed")!)).toBe(slot);
});

it("takes an upgrade back with the fork that drops its block", () => {
  const { chain, code } = createChain();
  for (let i = 0; i < 5; i++) chain.advanceSlot();
  chain.setProgram(PROGRAM, SECOND);
  chain.advanceSlot();
  expect(deployedIn(code())).toBeGreaterThan(1_000);
  chain.fork(2);
  expect(deployedIn(code())).toBe(1_000);
  expect(elfOf(code()).equals(FIRST)).toBe(true);
});
