import { Address } from "../../primitives/address.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";

/**
 * Mints that coins of Meteora DBC are commonly quoted in. Pools are searched by their coin, never by these mints; a pool quoted
 * in any other mint is found too.
 *
 * @see https://github.com/MeteoraAg/docs developer-guides/dbc at d1d645c (SOL, USDC, JUP); the rest are the chain's common
 * stable coins and staked SOL
 */
export const DBC_QUOTE_MINTS: readonly Address[] = [
  SOL_MINT,
  USDC_MINT,
  Address.of("JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN"),
  Address.of("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
  Address.of("USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB"),
  Address.of("J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn"),
];
