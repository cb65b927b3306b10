/**
 * Mints that coins of Meteora DBC are commonly quoted in. Pools are searched for by their coin, so these are not searched
 * for; a pool quoted in any other mint is found just the same.
 *
 * @see https://github.com/MeteoraAg/docs developer-guides/dbc at d1d645c (SOL, USDC, JUP); the rest are the chain's common
 * stable coins and staked SOL
 */
export const DBC_QUOTE_MINTS: readonly string[] = [
  "So11111111111111111111111111111111111111112",
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN",
  "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
  "USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB",
  "J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn",
];
