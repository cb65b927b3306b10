import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import { Address, compareAddresses } from "../../../../src/primitives/address.ts";
import { concatBytes, hex, textBytes, writeU32, writeU64 } from "../../../../src/primitives/bytes.ts";
import { readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { derive } from "../../../../src/solana/pda.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../src/solana/programs.ts";
import { DBC_AUTHORITY, DBC_EVENT_AUTHORITY, DBC_PROGRAM } from "../../../../src/venues/meteora-dbc/layout.ts";
import { meteoraDbc } from "../../../../src/venues/meteora-dbc/venue.ts";
import type { MintPair } from "../../../../src/venues/venue.ts";
import { readMarket } from "../../../conformance/trades.ts";
import type { Svm } from "../../../support/svm.ts";

const CREATE_CONFIG = hex("c9cff3724b6f2fbd");
const INITIALIZE_WITH_SPL_TOKEN = hex("8c55d7b06636684f");
const INITIALIZE_WITH_TOKEN_2022 = hex("a976334e916edc9b");
export const METAPLEX_PROGRAM = Address.of("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s");

export interface NewDbcPool {
  readonly quoteMint: Address;
  readonly baseFee: {
    readonly cliff: bigint;
    readonly first: number;
    readonly second: bigint;
    readonly third: bigint;
    /** 0 linear, 1 exponential, 2 rate limiter. */
    readonly mode: number;
  };
  readonly volatility: boolean;
  /** 0 quote token, 1 output token. */
  readonly collectFeeMode: number;
  readonly countsSeconds: boolean;
  /** True: the coin is of Token-2022. */
  readonly token2022: boolean;
  readonly decimals: number;
  readonly migrationThreshold: bigint;
  readonly sqrtStartPrice: bigint;
  readonly curve: readonly { readonly sqrtPrice: bigint; readonly liquidity: bigint }[];
  readonly eagerFirstSwap?: boolean;
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value & 255, value >> 8);
const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
};
const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, value);
  return bytes;
};
const u128 = (value: bigint): Uint8Array => concatBytes(u64(value & ((1n << 64n) - 1n)), u64(value >> 64n));
const text = (value: string): Uint8Array => concatBytes(u32(value.length), textBytes(value));

const VOLATILITY = concatBytes(
  Uint8Array.of(1),
  u16(1),
  u128(1_844_674_407_370_955n),
  u16(10),
  u16(120),
  u16(5000),
  u32(14_460_000),
  u32(956),
);

/** Borsh of the program's ConfigParameters: everything that does not touch trading is at its plainest. */
function configBytes(pool: NewDbcPool): Uint8Array {
  return concatBytes(
    CREATE_CONFIG,
    u64(pool.baseFee.cliff),
    u16(pool.baseFee.first),
    u64(pool.baseFee.second),
    u64(pool.baseFee.third),
    Uint8Array.of(pool.baseFee.mode),
    pool.volatility ? VOLATILITY : Uint8Array.of(0),
    Uint8Array.of(pool.collectFeeMode, 1, pool.countsSeconds ? 1 : 0, pool.token2022 ? 1 : 0, pool.decimals),
    // Liquidity after migration: all locked for the partner.
    Uint8Array.of(0, 100, 0, 0),
    u64(pool.migrationThreshold),
    u128(pool.sqrtStartPrice),
    // No vesting.
    new Uint8Array(40),
    // Migration fee option 0, supply not fixed, no creator share, update authority 0, no migration fee.
    Uint8Array.of(0, 0, 0, 1, 0, 0),
    // Migrated pool's fee, pool creation fee, both vestings, base fee mode, market-cap schedule: none.
    new Uint8Array(4 + 8 + 13 + 13 + 1 + 16),
    Uint8Array.of(pool.eagerFirstSwap ? 1 : 0),
    u16(0),
    new Uint8Array(2),
    u32(pool.curve.length),
    ...pool.curve.map(({ sqrtPrice, liquidity }) => concatBytes(u128(sqrtPrice), u128(liquidity))),
  );
}

/** Has the program create a configuration and a pool under it; the coin is the pool's own. @throws Error with the program's logs */
export function createDbcPool(svm: Svm, payer: Address, pool: NewDbcPool): { address: Address; baseMint: Address } {
  const config = svm.newAddress();
  const baseMint = svm.newAddress();
  const quoteProgram = svm.get(pool.quoteMint)!.owner;
  const [first, second] =
    compareAddresses(baseMint, pool.quoteMint) > 0 ? [baseMint, pool.quoteMint] : [pool.quoteMint, baseMint];
  const address = derive(DBC_PROGRAM, "pool", config, first, second);
  const run = (what: string, data: Uint8Array, accounts: ReturnType<typeof readonly>[]) => {
    const done = svm.send(payer, [{ program: DBC_PROGRAM, accounts, data }]);
    if (!done.ok) throw new Error(`${what}: ${done.error}\n${done.logs.join("\n")}`);
  };
  run("configuration", configBytes(pool), [
    writableSigner(config),
    readonly(payer),
    readonly(payer),
    readonly(pool.quoteMint),
    writableSigner(payer),
    readonly(SYSTEM_PROGRAM),
    readonly(DBC_EVENT_AUTHORITY),
    readonly(DBC_PROGRAM),
  ]);
  run(
    "pool",
    concatBytes(
      pool.token2022 ? INITIALIZE_WITH_TOKEN_2022 : INITIALIZE_WITH_SPL_TOKEN,
      text("Coin"),
      text("COIN"),
      text("https://example.com/coin"),
    ),
    [
      readonly(config),
      readonly(DBC_AUTHORITY),
      writableSigner(payer),
      writableSigner(baseMint),
      readonly(pool.quoteMint),
      writable(address),
      writable(derive(DBC_PROGRAM, "token_vault", baseMint, address)),
      writable(derive(DBC_PROGRAM, "token_vault", pool.quoteMint, address)),
      ...(pool.token2022
        ? []
        : [writable(derive(METAPLEX_PROGRAM, "metadata", METAPLEX_PROGRAM, baseMint)), readonly(METAPLEX_PROGRAM)]),
      writableSigner(payer),
      readonly(quoteProgram),
      readonly(pool.token2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM),
      readonly(SYSTEM_PROGRAM),
      readonly(DBC_EVENT_AUTHORITY),
      readonly(DBC_PROGRAM),
    ],
  );
  return { address, baseMint };
}

/** More than any curve takes. */
const TOO_MUCH = 10n ** 18n;

/** The most that a curve takes of its quote token (`pair.a`), as its refusal of more says. Undefined if it takes none. */
export function mostIntoCurve(svm: Svm, market: Address, pair: MintPair): bigint | undefined {
  const { state } = readMarket(svm, meteoraDbc, market, pair);
  try {
    const ask = { mode: "exactIn", inMint: pair.a, outMint: pair.b, amount: TOO_MUCH, clock: svm.clock() } as const;
    meteoraDbc.quote(state, ask);
  } catch (error) {
    const most = error instanceof TradewireError ? error.facts.details?.mostIn : undefined;
    return most === undefined || most === "0" ? undefined : BigInt(String(most));
  }
  return undefined;
}

/** The first build, by its date, that stops the trade which completes a curve at the migration price. */
const STOPS_SINCE = 20260101;

/**
 * False of builds that do not stop a trade at the curve's end: they fill the last unit of quote beyond the migration price, so that the
 * trade which completes the curve gives a few coins more than quoted. Amounts of that trade alone differ.
 */
export function stopsAtItsEnd(build: string): boolean {
  return Number(/(\d{8})-/.exec(build)?.[1] ?? STOPS_SINCE) >= STOPS_SINCE;
}
