/** A Solana network, as wallets name it. */
export type NetworkName = "mainnet" | "testnet" | "devnet" | "localnet";

/** @see https://solana.com/docs/references/clusters */
const BY_GENESIS: ReadonlyMap<string, NetworkName> = new Map([
  ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", "mainnet"],
  ["4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", "testnet"],
  ["EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", "devnet"],
]);

/** The network of a genesis hash; an unknown one is a local network. */
export function networkName(genesisHash: string): NetworkName {
  return BY_GENESIS.get(genesisHash) ?? "localnet";
}
