import type { RequestListener } from "node:http";
import { inNextPass } from "../../../primitives/turns/pass.ts";
import { TurnBudget } from "../../../primitives/turns/turn-budget.ts";
import { isConnected } from "../open-response.ts";
import { connectionOf } from "./connection-of.ts";

/** Requests of one turn of the event loop that the router serves while they are read: some 2 to 4 ms. */
const AT_ONCE = 64;

/**
 * Lets the router serve requests, as many as a turn of the event loop has time for. Further requests that the same turn reads wait for a
 * pass, as calls do: hundreds of connections may ask for something at the same moment.
 */
export function routeInTurns(router: RequestListener): RequestListener {
  const atOnce = new TurnBudget(AT_ONCE);
  return (request, response) => {
    if (atOnce.isSpent) {
      inNextPass(connectionOf(request), () => {
        if (isConnected(response)) router(request, response);
      });
      return;
    }
    atOnce.spend();
    router(request, response);
  };
}
