import { Address } from "../../primitives/address.ts";
import { decodeBase58 } from "../../primitives/encoding/base58.ts";

const ADDRESS_BYTES = 32;
/** Characters of the longest address. */
const MOST_CHARACTERS = 44;
/** Addresses of a generation. Two generations are kept, so that recently named addresses are found however many others come between. */
const MOST = 4_096;

let lately = new Map<string, Address>();
let before = new Map<string, Address>();

/**
 * The address that a node has written in base58; undefined if the text is not an address. Nodes name the same programs, mints and wallets
 * again and again: a recent text is looked up instead of converted.
 */
export function addressNamed(text: string): Address | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const known = lately.get(text);
  return known ?? note(before.get(text) ?? convert(text));
}

function convert(text: string): Address | undefined {
  const bytes = decodeBase58(text, ADDRESS_BYTES);
  return bytes?.length === ADDRESS_BYTES ? Address.from(bytes) : undefined;
}

function note(address: Address | undefined): Address | undefined {
  if (address === undefined) return undefined;
  if (lately.size >= MOST) {
    before = lately;
    lately = new Map();
  }
  // The address's own text: the given one may be a slice that would retain a long text.
  lately.set(address.toString(), address);
  return address;
}
