import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import type { AccountView, ChainClock } from "../../solana/account.ts";
import { decodeOnce, decodeOnceFor } from "../../solana/decode-once.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { filterByMint, filterEitherWay } from "../shared/mint-filter.ts";
import { degraded, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { assertReserve, requireReserve } from "../shared/reserves.ts";
import type { Ask, Quote, Replay, Venue } from "../venue.ts";
import { meteoraDammV1Errors } from "./errors.ts";
import { type DammV1Accounts, dammV1Swap } from "./instruction.ts";
import {
  DAMM_V1_MINT_A_OFFSET,
  DAMM_V1_MINT_B_OFFSET,
  DAMM_V1_PROGRAM,
  type DammV1Market,
  type DammV1Pool,
  type DammV1Vault,
  dammV1PoolAddresses,
  decodeDammV1Market,
  decodeDammV1Pool,
  decodeDammV1Vault,
  isDammV1Pool,
  isPriceable,
  stakedPrice,
  VAULT_PROGRAM,
} from "./layout.ts";
import {
  afterMove,
  dammV1Bench,
  dammV1ExactIn,
  dammV1ExactOut,
  dammV1Impact,
  MOST_ROUNDING,
  rememberStakedPrice,
  type VaultMoves,
  type VaultShare,
} from "./math.ts";
import { dammV1Spot } from "./spot.ts";
import { unitsOf } from "./units.ts";

/** A pool with its shares of both vaults, ready to be priced in either direction. */
interface DammV1State {
  readonly market: DammV1Market;
  readonly pool: DammV1Pool;
  readonly mints: readonly [Mint, Mint];
  readonly shares: readonly [VaultShare, VaultShare];
  /** Current value of staked SOL in millionths; the pool may have stored another one. */
  readonly stakedPrice: bigint | undefined;
  readonly accounts: DammV1Accounts;
}

interface DammV1QuoteFill {
  readonly from: 0 | 1;
  /** The amount the program checks against the bound: the decrease of the pool's stake, what arrives or one unit more. */
  readonly checkedOut: bigint;
  readonly computeUnits: number;
  readonly moved: VaultMoves;
}

const ACCOUNTS = { program: DAMM_V1_PROGRAM, mintOffsets: [DAMM_V1_MINT_A_OFFSET, DAMM_V1_MINT_B_OFFSET] } as const;

/**
 * Meteora DAMM v1 (dynamic AMM): constant product and stable pools whose tokens lie in shared, lending vaults with profit
 * that unlocks over time; stable pools of staked SOL follow its price. SPL tokens only.
 * From the interface and maths of the MIT SDKs (dynamic-amm 1.4.1, vault 2.3.1); proven by execution on builds of January
 * 2026 and on a dumped SOL/mSOL pool.
 * The program has no exact-output instruction: the least input that gives the output is found, and built as an exact-input
 * swap that must give at least the output asked for. It never takes more than the quoted input: if the price moves against it,
 * it fails, whatever the slippage. The program checks before a vault rounds: if another trade comes first, an exact output, or one
 * without slippage, may arrive one base unit short.
 * Uncertain: pools of Lido's and other stake pools' SOL follow the SDK and were not executed. Pools at keys of their
 * creators' choice are found only by the filter search.
 */
export const meteoraDammV1: Venue<DammV1Market, DammV1State, DammV1QuoteFill> = {
  id: "meteora_damm_v1",
  programs: [DAMM_V1_PROGRAM, VAULT_PROGRAM],
  supports: { exactOut: true, token2022: false },
  calls: 8,

  search(pair) {
    return [{ kind: "guess", addresses: () => dammV1PoolAddresses(pair) }, ...filterEitherWay(ACCOUNTS, pair)];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeDammV1Market,
  decoded: [
    [0, 298],
    [363, 395],
    [874, 875],
    [916, 917],
  ],

  /** First the accounts that the pool names, then those its vaults name. */
  needs(market, have) {
    const missing = unread(have, [
      market.address,
      ...market.vaults,
      ...market.shares,
      ...market.mints,
      ...(market.stake === undefined ? [] : [market.stake]),
    ]);
    for (const address of market.vaults) {
      const account = have.get(address);
      const vault = account === undefined || account === null ? undefined : vaultIn(account);
      if (vault !== undefined) missing.push(...unread(have, [vault.tokenVault, vault.shareMint]));
    }
    return missing;
  },

  read: readState,
  quote,
  spot: dammV1Spot,
  after,
  traded,
  replay,
  /** There is no instruction for an exact output: the quoted input is sold for no less than the requested output. */
  signedAsk: ({ mode, inAmount, outAmount }) =>
    mode === "exactIn" ? { mode, amount: inAmount } : { mode: "exactIn", amount: inAmount, bound: outAmount },

  /** Between markets: one unit below what the program checks, whichever way it rounds when the trade lands. */
  leastArriving: ({ mode, outAmount, fill }, threshold) =>
    (mode === "exactIn" ? checkedMinimum(outAmount, fill, threshold) : fill.checkedOut) - MOST_ROUNDING,

  swap({ accounts }, { mode, inAmount, outAmount, fill }, terms) {
    const exactIn = mode === "exactIn";
    const input = exactIn ? inAmount : minOf(inAmount, terms.threshold);
    const minimum = exactIn
      ? checkedMinimum(outAmount, fill, terms.threshold)
      : fill.checkedOut + (input < inAmount ? 1n : 0n);
    return {
      instructions: [dammV1Swap(accounts, fill.from, input, minimum, terms)],
      computeUnits: fill.computeUnits,
      creates: [],
    };
  },

  errors: meteoraDammV1Errors,
};

/**
 * The minimum to sign. The program checks the decrease of the pool's stake, and pays that or one unit less: which of them depends on
 * the state that the trade meets, so a unit is added wherever the price may move. Without slippage it is what is checked now.
 */
function checkedMinimum(outAmount: bigint, { checkedOut }: Pick<DammV1QuoteFill, "checkedOut">, threshold: bigint) {
  return threshold + (threshold < outAmount ? MOST_ROUNDING : checkedOut - outAmount);
}

const accountsOf = decodeOnceFor(
  (market: DammV1Market, ...vaultParts: [Address, Address, Address, Address]): DammV1Accounts => ({
    market,
    vaultParts,
  }),
);

function readState(market: DammV1Market, have: AccountView): DammV1State {
  const account = requireAccount(have, market.address, "meteora_damm_v1", "pool");
  if (!isDammV1Pool(account)) {
    throw degraded("meteora_damm_v1", `${market.address} is no longer a pool`);
  }
  const pool = decodeDammV1Pool(account);
  if (pool === undefined) throw degraded("meteora_damm_v1", `${market.address} opens by a clock not known here`);
  if (!isPriceable(pool))
    throw degraded("meteora_damm_v1", `${market.address} has a fee or a curve that divides by zero`);
  const vaults = [readVault(market.vaults[0], have), readVault(market.vaults[1], have)] as const;
  const share = (index: 0 | 1): VaultShare => {
    const vault = vaults[index];
    return {
      vault,
      shares: requireReserve(have, market.shares[index], vault.shareMint, "meteora_damm_v1"),
      supply: requireMint(have, vault.shareMint, "meteora_damm_v1").supply,
      reserve: requireReserve(have, vault.tokenVault, market.mints[index], "meteora_damm_v1"),
    };
  };
  return {
    market,
    pool,
    mints: [
      requireMint(have, market.mints[0], "meteora_damm_v1"),
      requireMint(have, market.mints[1], "meteora_damm_v1"),
    ],
    shares: [share(0), share(1)],
    stakedPrice: readStakedPrice(market, pool, have),
    accounts: accountsOf(market, vaults[0].tokenVault, vaults[1].tokenVault, vaults[0].shareMint, vaults[1].shareMint),
  };
}

/** @throws TradewireError VENUE_DEGRADED if the account that names the price is not of a program that stakes SOL */
function readStakedPrice({ address, stake }: DammV1Market, pool: DammV1Pool, have: AccountView): bigint | undefined {
  const account = stake === undefined ? undefined : have.get(stake);
  if (account === undefined || account === null || pool.stable === undefined) return undefined;
  const price = stakedPrice(pool.stable.depeg, account);
  if (price === undefined)
    throw degraded(
      "meteora_damm_v1",
      `${stake}, which prices the staked SOL of ${address}, is no stake pool known here`,
    );
  return price;
}

const vaultIn = decodeOnce(decodeDammV1Vault);

function readVault(address: DammV1Market["address"], have: AccountView): DammV1Vault {
  const vault = vaultIn(requireAccount(have, address, "meteora_damm_v1", "vault"));
  if (vault === undefined) throw degraded("meteora_damm_v1", `${address} is not a vault`);
  return vault;
}

function quote(state: DammV1State, ask: Ask): Quote<DammV1QuoteFill> {
  const { market, pool, mints, shares } = state;
  const point = pool.countsSeconds ? ask.clock.unixTimestamp : ask.clock.slot;
  if (!pool.enabled) throw notTrading(market, "is disabled");
  if (point < pool.activationPoint) {
    throw notTrading(market, `opens at ${pool.countsSeconds ? "Unix second" : "slot"} ${pool.activationPoint}`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const from = ask.inMint === market.mints[0] ? 0 : 1;
  if (!shares[from].vault.enabled) throw notTrading(market, "takes no deposits of this token: its vault is disabled");
  assertReserve(market, shares[from === 0 ? 1 : 0].reserve, 1n);
  const bench = dammV1Bench({
    pool,
    from,
    source: shares[from],
    target: shares[from === 0 ? 1 : 0],
    stakedPrice: state.stakedPrice,
    now: ask.clock.unixTimestamp,
  });
  if (bench === undefined) throw tooLarge(market);
  const exactIn = ask.mode === "exactIn";
  const fill = exactIn ? dammV1ExactIn(bench, ask.amount) : dammV1ExactOut(bench, ask.amount);
  if (fill === undefined) throw exactIn && ask.amount < bench.sourceHeld ? tooSmall() : tooLarge(market);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount: fill.input,
    outAmount: fill.output,
    priceImpact: ask.amountsOnly ? 0 : dammV1Impact(bench, fill),
    fill: { from, checkedOut: fill.checkedOut, computeUnits: unitsOf(bench, fill), moved: fill.moved },
  };
}

/** The pool after the trade: its vaults and its shares in them. */
function traded(state: DammV1State, made: Quote<DammV1QuoteFill>, { unixTimestamp }: ChainClock): DammV1State {
  const { from, moved } = made.fill;
  const { shares, pool } = after(state, made, state);
  const own = (index: 0 | 1): VaultShare => {
    const held = shares[index].shares + (index === from ? moved.minted : -moved.burnt);
    return { ...shares[index], shares: held };
  };
  return { ...state, shares: [own(0), own(1)], pool: rememberStakedPrice(pool, state.stakedPrice, unixTimestamp) };
}

/** The program checks the decrease of the pool's stake. */
function replay(
  state: DammV1State,
  signed: Quote<DammV1QuoteFill>,
  ask: Ask,
  bound: bigint,
): Replay<DammV1State, DammV1QuoteFill> {
  const made = quote(state, ask);
  if (made.fill.checkedOut >= checkedMinimum(signed.outAmount, signed.fill, bound))
    return { made, left: () => traded(state, made, ask.clock) };
  throw new TradewireError(
    "SLIPPAGE_EXCEEDED",
    `meteora_damm_v1 market ${state.market.address} gives less than signed`,
  );
}

/** Vaults are shared: a trade changes what the shares of every other pool in its two vaults are worth. */
function after(state: DammV1State, { fill }: Quote<DammV1QuoteFill>, other: DammV1State): DammV1State {
  const { from, moved } = fill;
  const source = state.market.vaults[from];
  const target = state.market.vaults[from === 0 ? 1 : 0];
  const { vaults } = other.market;
  if (!vaults.includes(source) && !vaults.includes(target)) return other;
  const share = (index: 0 | 1): VaultShare => {
    const before = other.shares[index];
    if (vaults[index] === source) return afterMove(before, moved.deposited, moved.minted);
    return vaults[index] === target ? afterMove(before, -moved.withdrawn, -moved.burnt) : before;
  };
  return { ...other, shares: [share(0), share(1)] };
}
