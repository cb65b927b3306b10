import type { Route } from "./route.ts";

/** The same route with as few accounts as its swaps need while prices stay near; itself if it has no fewer. @see Venue.lean */
export function leanRoute(route: Route): Route {
  let isLeaner = false;
  const steps = route.steps.map((step) => {
    const { hot, quote } = step;
    const lean = hot.venue.lean?.(hot.state, quote);
    if (lean === undefined) return step;
    isLeaner = true;
    return { ...step, quote: lean };
  });
  return isLeaner ? { ...route, steps } : route;
}
