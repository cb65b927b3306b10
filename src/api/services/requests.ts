import bs58 from "bs58";
import { SwapMode } from "../../../gen/tradewire/v1/types_pb.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { TradeRequest } from "../../trade/trade.ts";

const NATIVE_PSEUDO_MINT = "So11111111111111111111111111111111111111111";

/** The mint that stands for SOL in every response. */
export const WIRE_SOL_MINT = Address.of("So11111111111111111111111111111111111111112");

/** Recently parsed addresses: decoding base58 costs more than the rest of reading a request. */
const recent = new Map<string, Address>();
const RECENT_LIMIT = 4096;

/** Parses an address. @throws TradewireError VALIDATION_ERROR */
export function parseAddressField(text: string, field: string): Address {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const address = Address.parse(text);
  if (address === undefined) throw invalidField(field, `${field} is not an address: 32 bytes in base58.`);
  if (recent.size >= RECENT_LIMIT) recent.clear();
  recent.set(text, address);
  return address;
}

/** Parses a mint. `SOL` and the native pseudo-mint stand for the SOL mint. @throws TradewireError VALIDATION_ERROR */
export function parseMint(text: string, field: string): Address {
  if (text === "SOL" || text === NATIVE_PSEUDO_MINT) return WIRE_SOL_MINT;
  return parseAddressField(text, field);
}

/** Parses the token of a buy or sell. @throws TradewireError VALIDATION_ERROR if it is not an address or is SOL */
export function parseToken(text: string): Address {
  const mint = parseMint(text, "mint");
  if (mint === WIRE_SOL_MINT) throw invalidField("mint", "mint is SOL. Name the token to trade for SOL.");
  return mint;
}

/** Parses an Ed25519 signature in base58. @throws TradewireError VALIDATION_ERROR */
export function parseSignatureField(text: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(text);
  if (bytes?.length !== 64) {
    throw invalidField("signature", "signature is not an Ed25519 signature: 64 bytes in base58.");
  }
  return bytes;
}

/** The mode of a swap that has passed validation. */
export function swapModeOf(mode: SwapMode): TradeRequest["mode"] {
  return mode === SwapMode.EXACT_OUT ? "exactOut" : "exactIn";
}
