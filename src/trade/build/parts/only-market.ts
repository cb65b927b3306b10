import type { Lifetime } from "../../../chain/port.ts";
import { onlyRoute } from "../../quote/route.ts";
import { hasOneWay } from "../../quote/snapshot.ts";
import type { DraftPorts, TradeDraft } from "../draft-trade.ts";
import type { LoadedTrade } from "../load-trade.ts";
import { composeMessage, type MessageTerms } from "../message-forms.ts";

/**
 * Drafts a trade that has one market and no way over a hub, as of most tokens: there is nothing to rank, to divide or to search. The
 * draft is the one that `draftTrade` gives, at half the cost of choosing.
 *
 * @param nonce a number that differs between builds, below 2^14
 * @returns undefined for any other trade, and if the market refuses this one or its message fits into no transaction
 */
export function draftOnlyMarket(
  ports: DraftPorts,
  loaded: LoadedTrade,
  lifetime: Lifetime,
  nonce: number,
): TradeDraft | undefined {
  const { request, intent, accounts, snapshot } = loaded;
  const [hot] = snapshot.direct.markets;
  if (hot === undefined || !hasOneWay(snapshot)) return undefined;
  if (intent.requireChecked === true || intent.bounds?.allows !== undefined) return undefined;
  const route = onlyRoute(intent, hot, ports.head.clock());
  if (route === undefined) return undefined;
  const choice = ports.senders.choose(request.priority, nonce);
  const terms: MessageTerms = {
    request,
    intent,
    accounts,
    snapshot,
    blockhash: lifetime.blockhash,
    nonce,
    seed: ports.nextSeed(),
    choice,
  };
  const composed = composeMessage(ports, terms, route);
  return composed.fits ? { loaded, composed, lifetime, senders: choice.senders, fitLoss: 0 } : undefined;
}
