import type { Quote } from "../../venues/venue.ts";
import type { Route, RouteStep } from "./route.ts";

/** The same route with as few accounts as its swaps need while prices stay near; itself if it has no fewer. @see Venue.lean */
export function leanRoute(route: Route): Route {
  let isLeaner = false;
  const steps = route.steps.map((step) => {
    const lean = leanQuote(step);
    if (lean === undefined) return step;
    isLeaner = true;
    return { ...step, quote: lean };
  });
  return isLeaner ? { ...route, steps } : route;
}

/** Code that fails here makes no quote leaner, and costs no trade. */
function leanQuote({ hot, quote }: RouteStep): Quote | undefined {
  if (hot.refusesLean === true) return undefined;
  try {
    return hot.venue.lean?.(hot.state, quote);
  } catch (error) {
    hot.failed?.(error);
    return undefined;
  }
}
