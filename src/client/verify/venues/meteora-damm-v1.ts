import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { TOKEN_PROGRAM } from "../../../solana/programs.ts";
import {
  destination,
  fixed,
  market,
  readOnly,
  type SwapTable,
  source,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB");
const VAULT_PROGRAM = Address.of("24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi");

/** @see @meteora-ag/dynamic-amm-sdk 1.4.1 IDL, swap */
export const meteoraDammV1Swaps: readonly SwapTable[] = [
  {
    venue: "meteora_damm_v1",
    program: PROGRAM,
    name: "swap",
    discriminator: hex("f8c69e91e17587c8"),
    dataLength: 24,
    inAt: 8,
    outAt: 16,
    exact: "in",
    flags: [],
    zeros: [],
    accounts: [
      market,
      source,
      destination,
      written("the first vault", venueAccount),
      written("the second vault", venueAccount),
      written("the first vault's tokens", venueAccount),
      written("the second vault's tokens", venueAccount),
      written("the first vault's share mint", venueAccount),
      written("the second vault's share mint", venueAccount),
      written("the pool's share of the first vault", venueAccount),
      written("the pool's share of the second vault", venueAccount),
      written("the venue's fee account", venueAccount),
      wallet,
      readOnly("the vault program", fixed(VAULT_PROGRAM)),
      readOnly("the token program", fixed(TOKEN_PROGRAM)),
    ],
    tails: [[], [readOnly("the account that prices staked SOL", venueAccount)]],
    rounds: true,
    nativeSol: false,
  },
];
