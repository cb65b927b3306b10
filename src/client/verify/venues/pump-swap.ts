import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
  derivedFrom,
  destination,
  eitherMint,
  eventAuthority,
  fixed,
  market,
  type PreparationTable,
  readOnly,
  type SwapTable,
  source,
  tokenAccountOf,
  tokenProgram,
  venueAccount,
  written,
  writtenWallet,
} from "./swap-table.ts";

const PROGRAM = Address.of("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA");
const FEE_PROGRAM = Address.of("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ");

const BASE_MINT = 3;
const QUOTE_MINT = 4;
const QUOTE_PROGRAM = 12;
const WALLET = 1;

const volumeRecord = derivedFrom(PROGRAM, "user_volume_accumulator", WALLET);
const accountsOf = (base: AccountPlace, quote: AccountPlace, buying: boolean): readonly AccountPlace[] => [
  market,
  writtenWallet,
  readOnly("the venue's settings", derivedFrom(PROGRAM, "global_config")),
  eitherMint,
  eitherMint,
  base,
  quote,
  written("the pool's base account", venueAccount),
  written("the pool's quote account", venueAccount),
  readOnly("a fee recipient", venueAccount),
  written("the fee recipient's token account", tokenAccountOf(9, QUOTE_MINT, QUOTE_PROGRAM)),
  tokenProgram,
  tokenProgram,
  readOnly("the system program", fixed(SYSTEM_PROGRAM)),
  readOnly("the token account program", fixed(ASSOCIATED_TOKEN_PROGRAM)),
  eventAuthority(PROGRAM),
  readOnly("the venue's program", fixed(PROGRAM)),
  written("the creator vault's token account", tokenAccountOf(18, QUOTE_MINT, QUOTE_PROGRAM)),
  readOnly("the creator's vault", venueAccount),
  ...(buying
    ? [
        readOnly("the venue's volume record", derivedFrom(PROGRAM, "global_volume_accumulator")),
        written("the wallet's volume record", volumeRecord),
      ]
    : []),
  readOnly("the fee configuration", derivedFrom(FEE_PROGRAM, "fee_config", PROGRAM)),
  readOnly("the fee program", fixed(FEE_PROGRAM)),
];

/** What follows: the wallet's cashback accounts where the coin has cashback, the coin's second record, the buyback pair. */
function tailsOf(fixedAccounts: number, buying: boolean): readonly (readonly AccountPlace[])[] {
  const cashback = (at: number): AccountPlace[] =>
    buying
      ? [written("the cashback account", tokenAccountOf(20, QUOTE_MINT, QUOTE_PROGRAM))]
      : [
          written("the cashback account", tokenAccountOf(at + 1, QUOTE_MINT, QUOTE_PROGRAM)),
          written("the wallet's volume record", volumeRecord),
        ];
  const second = [readOnly("the coin's second record", derivedFrom(PROGRAM, "pool-v2", BASE_MINT))];
  const buyback = (at: number): AccountPlace[] => [
    readOnly("a buyback recipient", venueAccount),
    written("the buyback recipient's token account", tokenAccountOf(at, QUOTE_MINT, QUOTE_PROGRAM)),
  ];
  return [true, false].flatMap((hasCashback) =>
    [true, false].map((hasSecond) => {
      const before = [...(hasCashback ? cashback(fixedAccounts) : []), ...(hasSecond ? second : [])];
      return [...before, ...buyback(fixedAccounts + before.length)];
    }),
  );
}

/**
 * Brings a pool of an older layout to today's size, at the wallet's expense: rent for fewer than a hundred bytes.
 * @see @pump-fun/pump-swap-sdk 1.20.0 IDL pump_amm: extend_account
 */
export const pumpSwapExtension: PreparationTable = {
  venue: "pump_swap",
  program: PROGRAM,
  name: "extend_account",
  discriminator: hex("ea66c2cb96483ee5"),
  accounts: [
    market,
    writtenWallet,
    readOnly("the system program", fixed(SYSTEM_PROGRAM)),
    eventAuthority(PROGRAM),
    readOnly("the venue's program", fixed(PROGRAM)),
  ],
};

const common = { venue: "pump_swap", program: PROGRAM, zeros: [], nativeSol: false, grossBound: true } as const;
const buy = {
  ...common,
  dataLength: 25,
  flags: [{ at: 24, is: [0, 1] }],
  accounts: accountsOf(destination, source, true),
  tails: tailsOf(23, true),
} as const;
const sell = {
  ...common,
  dataLength: 24,
  flags: [],
  accounts: accountsOf(source, destination, false),
  tails: tailsOf(21, false),
} as const;

/** @see @pump-fun/pump-swap-sdk 1.20.0 IDL pump_amm: buy, buy_exact_quote_in, sell */
export const pumpSwapSwaps: readonly SwapTable[] = [
  { ...buy, name: "buy", discriminator: hex("66063d1201daebea"), exact: "out", inAt: 16, outAt: 8 },
  { ...buy, name: "buy_exact_quote_in", discriminator: hex("c62e1552b4d9e870"), exact: "in", inAt: 8, outAt: 16 },
  { ...sell, name: "sell", discriminator: hex("33e685a4017f83ad"), exact: "in", inAt: 8, outAt: 16 },
];
