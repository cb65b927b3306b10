/**
 * Quote mints of Meteora DBC pools known here. A pool's account does not name its quote mint, but its quote vault is derived
 * from it, so that a pool of a listed quote is recognised from its account alone; others are not seen.
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
