import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { meteoraDammV1 } from "./venue.ts";

const { markets, mint, clock } = readSampleMarkets();
const { hot, accounts } = markets.find(({ venue }) => venue.id === "meteora_damm_v1")!;
const STAKE = Address.from(new Uint8Array(32).fill(9));
const STAKE_POOL_PROGRAM = Address.of("SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUnakuHy");
const SANCTUM_PROGRAM = Address.of("SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY");
const ATTACKER = Address.from(new Uint8Array(32).fill(66));

/** The sample as a stable pool of staked SOL, priced by the stake pool at `STAKE`. */
function stablePool(rememberedAt: bigint): Account {
  const pool = accounts.get(hot.market.address)!;
  const data = pool.data.slice();
  data.set(STAKE.bytes, 363);
  data[874] = 1;
  for (const [offset, value] of [
    [875, 100n],
    [883, 1n],
    [891, 1n],
    [900, 1_000_000n],
    [908, rememberedAt],
  ] as const)
    writeU64(data, offset, value);
  data[916] = 3;
  return { ...pool, data };
}

/** 11 SOL for 10 shares. */
function stakePool(owner: Address, type = 1): Account {
  const data = new Uint8Array(611);
  data[0] = type;
  writeU64(data, 258, 11_000_000_000n);
  writeU64(data, 266, 10_000_000_000n);
  return { ...accounts.get(hot.market.address)!, address: STAKE, owner, data };
}

function quoted(pool: Account, stake: Account): bigint {
  const view: AccountView = {
    get: (address) => (address === STAKE ? stake : address === pool.address ? pool : accounts.get(address)),
  };
  const market = meteoraDammV1.decode(pool, { a: mint, b: SOL_MINT })!;
  const ask = { mode: "exactIn", inMint: mint, outMint: SOL_MINT, amount: 1_000_000n, clock } as const;
  return meteoraDammV1.quote(meteoraDammV1.read(market, view), ask).outAmount;
}

test.each([STAKE_POOL_PROGRAM, SANCTUM_PROGRAM])("a stake pool of %s prices a pool of its SOL", (program) => {
  expect(quoted(stablePool(0n), stakePool(program))).toBeGreaterThan(0n);
});

test.each([
  ["of nobody's program", stakePool(ATTACKER)],
  ["that is a list of validators", stakePool(STAKE_POOL_PROGRAM, 2)],
])("a pool is refused if its price comes from an account %s, remembered or not", (_, stake) => {
  for (const rememberedAt of [0n, clock.unixTimestamp])
    expect(() => quoted(stablePool(rememberedAt), stake)).toThrow("is no stake pool known here");
});
