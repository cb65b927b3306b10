import { isSameHost } from "../connection/loopback.ts";
import type { ConnectOptions } from "../order/options.ts";
import type { TradeWitnesses } from "./prove-trade.ts";
import { type Quoter, quoteReference } from "./quote-reference.ts";
import { referenceOptions } from "./reference.ts";

/**
 * What a client has to prove trades with.
 * @param baseUrl of the service, absolute
 * @param connect makes a client of another Tradewire, whose quotes are the reference @throws TypeError for a malformed option
 */
export function witnessesOf(
  { node, reference, requireProof = false }: ConnectOptions,
  baseUrl: string,
  connect: (options: { readonly baseUrl: string; readonly apiKey: string | undefined }) => Quoter,
): TradeWitnesses {
  if (node !== undefined && typeof node?.check !== "function") {
    throw new TypeError('node is what rpcNode(url) of "tradewire/node" returns.');
  }
  if (reference === undefined) return { node, reference, tolerance: undefined, requireProof };
  const { source, apiKey, tolerance } = referenceOptions(reference);
  if (typeof source === "function") return { node, reference: source, tolerance, requireProof };
  const url = source.replace(/\/+$/, "");
  if (isSameHost(new URL(url), new URL(baseUrl))) {
    throw new TypeError("The reference is the service itself, which is no second opinion.");
  }
  return { node, reference: quoteReference(connect({ baseUrl: url, apiKey })), tolerance, requireProof };
}
