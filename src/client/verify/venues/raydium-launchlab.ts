import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
  derivedFrom,
  destination,
  eitherMint,
  eventAuthority,
  fixed,
  market,
  readOnly,
  type SwapTable,
  source,
  tokenProgram,
  venueAccount,
  written,
  writtenWallet,
} from "./swap-table.ts";

const PROGRAM = Address.of("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj");

/** The same for both directions; only whose turn it is to pay differs. */
const accountsOf = (base: AccountPlace, quote: AccountPlace): readonly AccountPlace[] => [
  writtenWallet,
  readOnly("the pool authority", derivedFrom(PROGRAM, "vault_auth_seed")),
  readOnly("the fee configuration", venueAccount),
  readOnly("the platform configuration", venueAccount),
  market,
  base,
  quote,
  written("the vault of the coin", derivedFrom(PROGRAM, "pool_vault", 4, 9)),
  written("the vault of the quote mint", derivedFrom(PROGRAM, "pool_vault", 4, 10)),
  eitherMint,
  eitherMint,
  tokenProgram,
  tokenProgram,
  eventAuthority(PROGRAM),
  readOnly("the venue's program", fixed(PROGRAM)),
  readOnly("the system program", fixed(SYSTEM_PROGRAM)),
  written("the platform's fee vault", derivedFrom(PROGRAM, 3, 10)),
  written("the creator's fee vault", venueAccount),
];
const common = {
  venue: "raydium_launchlab",
  program: PROGRAM,
  dataLength: 32,
  flags: [],
  // No share of the trade for anybody.
  zeros: [{ at: 24, length: 8 }],
  tails: [[]],
  nativeSol: false,
  // Of the deployed program it is not known.
  grossBound: true,
} as const;
const buys = accountsOf(destination, source);
const sells = accountsOf(source, destination);

/** @see @raydium-io/raydium-sdk-v2 0.2.73, launchpad: amount, bound, share_fee_rate */
export const raydiumLaunchlabSwaps: readonly SwapTable[] = [
  {
    ...common,
    name: "buy_exact_in",
    discriminator: hex("faea0d7bd59c13ec"),
    exact: "in",
    inAt: 8,
    outAt: 16,
    accounts: buys,
  },
  {
    ...common,
    name: "buy_exact_out",
    discriminator: hex("18d3742869039938"),
    exact: "out",
    inAt: 16,
    outAt: 8,
    accounts: buys,
    cuts: true,
  },
  {
    ...common,
    name: "sell_exact_in",
    discriminator: hex("9527de9bd37c981a"),
    exact: "in",
    inAt: 8,
    outAt: 16,
    accounts: sells,
  },
  {
    ...common,
    name: "sell_exact_out",
    discriminator: hex("5fc8472208090ba6"),
    exact: "out",
    inAt: 16,
    outAt: 8,
    accounts: sells,
  },
];
