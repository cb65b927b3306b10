import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { readU64 } from "../../src/primitives/bytes.ts";
import { createWorld, type World } from "../../src/sandbox/world/world.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint, extensionsOf, isMint } from "../../src/solana/token/mint.ts";
import { decodeTokenAccount, isTokenAccount } from "../../src/solana/token/token-account.ts";

const RENT_PER_BYTE = 5_080n;
const at = { slot: 450_000_000n, unixTimestamp: 1_795_000_000n };

const asAccount = (account: World["accounts"][number]) => ({ ...account, executable: false, slot: at.slot });

describe("the seeded world", () => {
  const world = createWorld({ seed: 1, ...at });

  it("depends on the seed alone", () => {
    const text = (one: World): string =>
      one.accounts.map((account) => `${account.address} ${account.lamports} ${account.data}`).join("\n");
    expect(text(createWorld({ seed: 1, ...at }))).toBe(text(world));
    expect(createWorld({ seed: 2, ...at }).tokens[1]!.mint).not.toBe(world.tokens[1]!.mint);
  });

  it("can be made of any seed", () => {
    for (let seed = 0; seed < 30; seed++) expect(createWorld({ seed, ...at }).tokens.length).toBe(world.tokens.length);
  });

  it("contains each account once, with its rent", () => {
    expect(new Set(world.accounts.map((account) => account.address)).size).toBe(world.accounts.length);
    for (const account of world.accounts) {
      expect(account.lamports).toBeGreaterThanOrEqual((128n + BigInt(account.data.length)) * RENT_PER_BYTE);
    }
  });

  it("has supplies equal to the sum of balances, and lamports behind wrapped SOL", () => {
    const held = new Map<Address, bigint>();
    for (const account of world.accounts.map(asAccount)) {
      if (!isTokenAccount(account)) continue;
      const { mint, amount } = decodeTokenAccount(account);
      held.set(mint, (held.get(mint) ?? 0n) + amount);
      if (mint === SOL_MINT) expect(account.lamports).toBe(readU64(account.data, 113) + amount);
    }
    for (const account of world.accounts.map(asAccount)) {
      if (!isMint(account) || account.address === SOL_MINT) continue;
      expect(decodeMint(account).supply, `${account.address}`).toBe(held.get(account.address) ?? 0n);
    }
  });

  it("writes Token-2022 accounts correctly to the last byte", () => {
    for (const account of world.accounts) {
      if (account.owner !== TOKEN_2022_PROGRAM || account.data.length <= 165) continue;
      const last = [...extensionsOf(account.data)].at(-1);
      expect(last!.start + last!.length).toBe(account.data.length);
    }
  });

  it("lists tokens as in their mints and markets", () => {
    for (const token of world.tokens) {
      const mint = world.accounts.find((account) => account.address === token.mint)!;
      expect([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]).toContain(token.program);
      expect(mint.owner).toBe(token.program);
      expect(mint.data[44]).toBe(token.decimals);
      const market = world.accounts.find((account) => account.address === token.market)!;
      expect(world.programs.map((program) => program.id)).toContain(market.owner);
    }
  });
});
