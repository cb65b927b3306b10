import { Address } from "../../../primitives/address.ts";
import { hasBytesAt, hex, readU64 } from "../../../primitives/bytes.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
  derivedFrom,
  destination,
  eitherMint,
  eventAuthority,
  fixed,
  inMint,
  outMint,
  readOnly,
  type SwapTable,
  source,
  tokenAccountOf,
  tokenProgram,
  venueAccount,
  written,
  writtenWallet,
} from "./swap-table.ts";

const PROGRAM = Address.of("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P");
const FEE_PROGRAM = Address.of("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ");

const CURVE_AT = 10;
const WALLET = 13;

/** Both directions share all but the volume account of buys. `volumeAt` is where the wallet's own volume record stands. */
const accountsOf = (base: AccountPlace, quote: AccountPlace, volumeAt: number): readonly AccountPlace[] => [
  readOnly("the venue's settings", derivedFrom(PROGRAM, "global")),
  eitherMint,
  eitherMint,
  tokenProgram,
  tokenProgram,
  readOnly("the token account program", fixed(ASSOCIATED_TOKEN_PROGRAM)),
  written("a fee recipient", venueAccount),
  written("the fee recipient's token account", tokenAccountOf(6, 2, 4)),
  written("a buyback recipient", venueAccount),
  written("the buyback recipient's token account", tokenAccountOf(8, 2, 4)),
  written("the bonding curve", derivedFrom(PROGRAM, "bonding-curve", 1)),
  written("the curve's coins", tokenAccountOf(CURVE_AT, 1, 3)),
  written("the curve's quote account", tokenAccountOf(CURVE_AT, 2, 4)),
  writtenWallet,
  base,
  quote,
  written("the creator's vault", venueAccount),
  written("the creator vault's token account", tokenAccountOf(16, 2, 4)),
  readOnly("the fee sharing settings", derivedFrom(FEE_PROGRAM, "sharing-config", 1)),
  ...(volumeAt === 20
    ? [readOnly("the venue's volume record", derivedFrom(PROGRAM, "global_volume_accumulator"))]
    : []),
  written("the wallet's volume record", derivedFrom(PROGRAM, "user_volume_accumulator", WALLET)),
  written("the volume record's token account", tokenAccountOf(volumeAt, 2, 4)),
  readOnly("the fee configuration", derivedFrom(FEE_PROGRAM, "fee_config", PROGRAM)),
  readOnly("the fee program", fixed(FEE_PROGRAM)),
  readOnly("the system program", fixed(SYSTEM_PROGRAM)),
  eventAuthority(PROGRAM),
  readOnly("the venue's program", fixed(PROGRAM)),
];
/** Places of the older instructions: the coin, its curve, the wallet. */
const OLDER = { mint: 2, curve: 3, wallet: 6 } as const;

/** The first accounts of all older instructions, up to the system program. `tokenProgramAt` is where the coin's token program stands. */
const olderStart = (coin: AccountPlace, own: AccountPlace, tokenProgramAt: number): readonly AccountPlace[] => [
  readOnly("the venue's settings", derivedFrom(PROGRAM, "global")),
  written("a fee recipient", venueAccount),
  coin,
  written("the bonding curve", derivedFrom(PROGRAM, "bonding-curve", OLDER.mint)),
  written("the curve's coins", tokenAccountOf(OLDER.curve, OLDER.mint, tokenProgramAt)),
  own,
  writtenWallet,
  readOnly("the system program", fixed(SYSTEM_PROGRAM)),
];
const creatorVault = written("the creator's vault", venueAccount);
const olderPrograms: readonly AccountPlace[] = [
  eventAuthority(PROGRAM),
  readOnly("the venue's program", fixed(PROGRAM)),
];
const olderVolume = written(
  "the wallet's volume record",
  derivedFrom(PROGRAM, "user_volume_accumulator", OLDER.wallet),
);
const olderFees: readonly AccountPlace[] = [
  readOnly("the fee configuration", derivedFrom(FEE_PROGRAM, "fee_config", PROGRAM)),
  readOnly("the fee program", fixed(FEE_PROGRAM)),
];
const olderEnd: readonly AccountPlace[] = [
  readOnly("the coin's second curve account", derivedFrom(PROGRAM, "bonding-curve-v2", OLDER.mint)),
  written("a buyback recipient", venueAccount),
];
const olderBuys: readonly AccountPlace[] = [
  ...olderStart(outMint, destination, 8),
  tokenProgram,
  creatorVault,
  ...olderPrograms,
  readOnly("the venue's volume record", derivedFrom(PROGRAM, "global_volume_accumulator")),
  olderVolume,
  ...olderFees,
  ...olderEnd,
];
const olderSells: readonly AccountPlace[] = [
  ...olderStart(inMint, source, 9),
  creatorVault,
  tokenProgram,
  ...olderPrograms,
  ...olderFees,
];

const common = {
  venue: "pump_fun",
  program: PROGRAM,
  marketAt: CURVE_AT,
  dataLength: 24,
  flags: [],
  zeros: [],
  tails: [[]],
  nativeSol: true,
  grossBound: true,
} as const;
const buys = accountsOf(destination, source, 20);
const sells = accountsOf(source, destination, 19);

/** Those name no mint of SOL, which they move as lamports. Buys end with a flag: that they count towards the wallet's volume. */
const older = {
  ...common,
  marketAt: OLDER.curve,
  dataLength: 25,
  flags: [{ at: 24, is: [1] }],
  accounts: olderBuys,
  solSide: "in",
} as const;

/** @see @pump-fun/pump-sdk 2.0.0 IDL pump: buy_v2, buy_exact_quote_in_v2, sell_v2; buy, buy_exact_sol_in, sell */
export const pumpFunSwaps: readonly SwapTable[] = [
  {
    ...common,
    name: "buy_v2",
    discriminator: hex("b817ee6167c5d33d"),
    exact: "out",
    inAt: 16,
    outAt: 8,
    accounts: buys,
  },
  {
    ...common,
    name: "buy_exact_quote_in_v2",
    discriminator: hex("c2ab1c46684d5b2f"),
    exact: "in",
    inAt: 8,
    outAt: 16,
    accounts: buys,
  },
  {
    ...common,
    name: "sell_v2",
    discriminator: hex("5df6823ce7e940b2"),
    exact: "in",
    inAt: 8,
    outAt: 16,
    accounts: sells,
  },
  { ...older, name: "buy", discriminator: hex("66063d1201daebea"), exact: "out", inAt: 16, outAt: 8 },
  { ...older, name: "buy_exact_sol_in", discriminator: hex("38fc74089edfcd5f"), exact: "in", inAt: 8, outAt: 16 },
  {
    ...common,
    name: "sell",
    marketAt: OLDER.curve,
    discriminator: hex("33e685a4017f83ad"),
    exact: "in",
    inAt: 8,
    outAt: 16,
    accounts: olderSells,
    // A coin with cashback names the wallet's volume record too.
    tails: [olderEnd, [olderVolume, ...olderEnd]],
    solSide: "out",
  },
];

/** A bonding curve's account: where it says how much of the quote it holds, and where what that is, if it is long enough to. */
const CURVE = { discriminator: hex("17b7f83760d8ac60"), leastSize: 49, realQuote: 32, quoteMint: 83 } as const;
const ADDRESS_SIZE = 32;

/** Lamports that trades have left in a bonding curve; 0 of any other account. @see @pump-fun/pump-sdk 2.0.0 IDL pump: BondingCurve */
export function curveReserve({ owner, data }: { readonly owner: Address; readonly data: Uint8Array }): bigint {
  if (owner !== PROGRAM || data.length < CURVE.leastSize || !hasBytesAt(data, 0, CURVE.discriminator)) return 0n;
  const isInSol = data.subarray(CURVE.quoteMint, CURVE.quoteMint + ADDRESS_SIZE).every((byte) => byte === 0);
  return isInSol ? readU64(data, CURVE.realQuote) : 0n;
}
