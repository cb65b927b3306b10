/** What the bench does not measure, and why or where else it is. */
export const UNMEASURED: readonly (readonly [string, string])[] = [
  ["decoding a stream's notices", "npm run bench:state; the updates here are accounts already decoded"],
  ["a database on another machine", "builds do not touch it"],
  ["the network, and TLS", "callers and service share a machine, in plain text"],
  [
    "proving state fresh again",
    "a build that is the first of its wallet or its market for more than two seconds takes some 3 µs more; the bench allows a minute",
  ],
  ["checks on the deployed programs", "they run in a process of their own"],
  [
    "meteora_dbc in spread traffic",
    "its sample cannot be copied under a new address; npm run bench -- --venues has it",
  ],
];
