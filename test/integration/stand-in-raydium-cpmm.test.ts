import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { hex, readU64, viewOf, writeU64 } from "../../src/primitives/bytes.ts";
import { ceilDiv, U64_MAX } from "../../src/primitives/integer.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type CpmmPool, type CpmmSwap, cpmmInstruction, readCpmmPool } from "../support/cpmm-instruction.ts";
import type { Executed, Svm } from "../support/svm.ts";
import { WORLD_CLOCK, worldOnSvm } from "../support/world.ts";

const MILLION = 1_000_000n;
const SWAPS = 50;

type Side = 0 | 1;

/** What a pool's creator fee may be taken from: 0 the input, 1 token 0, 2 token 1. */
const CREATOR_FEE_MODES = [0, 1, 2] as const;

/** The pool's own numbers, read where its layout keeps them. */
function readNumbers(svm: Svm, pool: CpmmPool, side: Side) {
  const { data } = svm.get(pool.address)!;
  const config = svm.get(pool.config)!.data;
  const owed = (of: Side): bigint => [341, 357, 397].reduce((sum, at) => sum + readU64(data, at + 8 * of), 0n);
  const reserve = (of: Side): bigint => svm.tokens(pool.vaults[of]) - owed(of);
  const other: Side = side === 0 ? 1 : 0;
  return {
    reserveIn: reserve(side),
    reserveOut: reserve(other),
    trade: readU64(config, 12),
    creator: data[390] === 1 ? readU64(config, 108) : 0n,
    onInput: data[389] === 0 || data[389] === side + 1,
  };
}

/** The calculator of the public source, for amounts without transfer fees. */
function expectOutput(svm: Svm, pool: CpmmPool, side: Side, input: bigint): bigint {
  const { reserveIn, reserveOut, trade, creator, onInput } = readNumbers(svm, pool, side);
  const net = input - ceilDiv(input * (trade + (onInput ? creator : 0n)), MILLION);
  const output = (net * reserveOut) / (reserveIn + net);
  return onInput ? output : output - ceilDiv(output * creator, MILLION);
}

function expectInput(svm: Svm, pool: CpmmPool, side: Side, output: bigint): bigint {
  const { reserveIn, reserveOut, trade, creator, onInput } = readNumbers(svm, pool, side);
  const gross = onInput ? output : ceilDiv(output * MILLION, MILLION - creator);
  const net = ceilDiv(reserveIn * gross, reserveOut - gross);
  return ceilDiv(net * MILLION, MILLION - trade - (onInput ? creator : 0n));
}

describe("the CPMM stand-in", () => {
  const { world, svm } = worldOnSvm(5);
  const tokens = world.tokens.filter((token) => token.venue === "raydium_cpmm");
  const poolOf = (symbol: string): CpmmPool => {
    const { market } = tokens.find((token) => token.symbol === symbol)!;
    return readCpmmPool(market, svm.get(market)!.data);
  };
  const newTrader = (pool: CpmmPool): Address => {
    const wallet = svm.newWallet();
    for (const mint of pool.mints) svm.setTokens(wallet, mint, 10n ** 17n);
    return wallet;
  };
  const change = (address: Address, edit: (data: Uint8Array) => void): void => {
    const account = svm.get(address)!;
    edit(account.data);
    svm.setAccount(account);
  };

  it("has pools of every kind", () => {
    expect(new Set(tokens.map((token) => token.decimals))).toEqual(new Set([2, 6, 9]));
    expect(new Set(tokens.map((token) => token.program)).size).toBe(2);
    expect(tokens.some((token) => token.transferFeeBps > 0)).toBe(true);
    const ember = tokens.filter((token) => token.symbol === "EMBER").map((token) => token.market);
    expect(new Set(ember.map((market) => readCpmmPool(market, svm.get(market)!.data).config)).size).toBe(2);
  });

  for (const mode of CREATOR_FEE_MODES) {
    it(`takes the creator's fee as the public source does, mode ${mode}`, () => {
      const pool = poolOf("GUILD");
      change(pool.address, (data) => {
        data[389] = mode;
      });
      const wallet = newTrader(pool);
      const random = createRandom(mode);
      for (let index = 0; index < SWAPS; index++) {
        const side: Side = random.chance(0.5) ? 0 : 1;
        const other: Side = side === 0 ? 1 : 0;
        const given = svm.tokens(pool.vaults[side]);
        const taken = svm.tokens(pool.vaults[other]);
        const exactIn = random.chance(0.5);
        const amount = random.magnitude((exactIn ? given : taken) / 4n);
        const input = exactIn ? amount : expectInput(svm, pool, side, amount);
        const output = exactIn ? expectOutput(svm, pool, side, amount) : amount;
        if (output === 0n) continue;
        const swap = (tighter: bigint): CpmmSwap =>
          exactIn
            ? { kind: "swapBaseInput", side, first: amount, second: output + tighter }
            : { kind: "swapBaseOutput", side, first: input - tighter, second: amount };
        expectError(svm.simulate(wallet, [cpmmInstruction(pool, wallet, swap(1n))]), 6005, "ExceededSlippage");
        const done = svm.send(wallet, [cpmmInstruction(pool, wallet, swap(0n))]);
        expect(done.ok, done.logs.join("\n")).toBe(true);
        expect(svm.tokens(pool.vaults[side])).toBe(given + input);
        expect(svm.tokens(pool.vaults[other])).toBe(taken - output);
      }
      const { data } = svm.get(pool.address)!;
      expect(readU64(data, 397) + readU64(data, 405)).toBeGreaterThan(0n);
    });
  }

  it("reports each refusal with its own error", () => {
    const pool = poolOf("LUMEN");
    const wallet = newTrader(pool);
    const swap = (changed: Partial<CpmmSwap> = {}): Executed => {
      const whole: CpmmSwap = { kind: "swapBaseInput", side: 0, first: 1_000_000n, second: 0n, ...changed };
      return svm.simulate(wallet, [cpmmInstruction(pool, wallet, whole)]);
    };
    const during = (at: number, bytes: Uint8Array, run: () => void): void => {
      const before = svm.get(pool.address)!.data;
      change(pool.address, (data) => data.set(bytes, at));
      run();
      change(pool.address, (data) => data.set(before));
    };
    const later = new Uint8Array(8);
    writeU64(later, 0, WORLD_CLOCK.unixTimestamp + 1n);

    expect(swap().ok).toBe(true);
    expectError(swap({ second: U64_MAX }), 6005, "ExceededSlippage");
    expectError(swap({ kind: "swapBaseOutput", first: 1n, second: 1_000_000n }), 6005, "ExceededSlippage");
    expectError(swap({ first: 0n }), 2505, "RequireGtViolated");
    expectError(swap({ kind: "swapBaseOutput", second: 0n }), 2505, "RequireGtViolated");
    during(329, Uint8Array.of(4), () => expectError(swap(), 6000, "NotApproved"));
    during(373, later, () => expectError(swap(), 6000, "NotApproved"));
    during(0, hex("0000000000000000"), () => expectError(swap(), 3002, "AccountDiscriminatorMismatch"));
    const instruction = cpmmInstruction(pool, wallet, { kind: "swapBaseInput", side: 0, first: 1n, second: 0n });
    const unknown = { ...instruction, data: new Uint8Array(24) };
    expectError(svm.simulate(wallet, [unknown]), 101, "InstructionFallbackNotFound");
    const short = { ...instruction, accounts: instruction.accounts.slice(0, 12) };
    expectError(svm.simulate(wallet, [short]), 3005, "AccountNotEnoughKeys");
  });

  it("cannot pay out more than it holds", () => {
    const pool = poolOf("QRTZ");
    const wallet = newTrader(pool);
    const all = { kind: "swapBaseOutput", side: 0, first: U64_MAX, second: svm.tokens(pool.vaults[1]) } as const;
    expect(svm.simulate(wallet, [cpmmInstruction(pool, wallet, all)]).ok).toBe(false);
  });

  it("charges the current transfer fee of a Token-2022 mint both ways", () => {
    const pool = poolOf("TITHE");
    const wallet = newTrader(pool);
    const side: Side = svm.get(pool.mints[0])!.data.length > 82 ? 0 : 1;
    const { data } = svm.get(pool.mints[side])!;
    const bps = BigInt(viewOf(data).getUint16(170 + 90 + 16, true));
    expect(bps).toBe(150n);
    const given = svm.tokens(pool.vaults[side]);
    const sent = 123_456_789n;
    const swap = { kind: "swapBaseInput", side, first: sent, second: 0n } as const;
    expect(svm.send(wallet, [cpmmInstruction(pool, wallet, swap)]).ok).toBe(true);
    expect(svm.tokens(pool.vaults[side])).toBe(given + sent - ceilDiv(sent * bps, 10_000n));
  });
});

function expectError(executed: Executed, number: number, name: string): void {
  expect(executed.ok).toBe(false);
  const logs = executed.logs.join("\n");
  expect(logs).toMatch(
    new RegExp(`AnchorError .*Error Code: ${name}\\. Error Number: ${number}\\. Error Message: .+\\.`),
  );
  expect(logs).toContain(`custom program error: 0x${number.toString(16)}`);
}
