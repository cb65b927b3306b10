import { expect, it } from "vitest";
import { networkName } from "./network-name.ts";

it("names the public networks by their genesis hash, and any other localnet", () => {
  expect(networkName("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")).toBe("mainnet");
  expect(networkName("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG")).toBe("devnet");
  expect(networkName("4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY")).toBe("testnet");
  expect(networkName("11111111111111111111111111111111")).toBe("localnet");
  // Nodes may answer anything.
  expect(networkName("constructor")).toBe("localnet");
});
