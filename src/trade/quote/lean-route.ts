import type { Quote } from "../../venues/venue.ts";
import type { Route, RouteStep } from "./route.ts";

/** A leaner form of swaps. */
type LeanForm = "older" | "lean";

/** The same route by the older instructions of its venues, which name fewer accounts; itself if it has none. @see Venue.older */
export function olderRoute(route: Route): Route {
  return inForm(route, "older");
}

/** The same route with as few arrays as its swaps need while prices stay near; itself if it names no others. @see Venue.lean */
export function leanRoute(route: Route): Route {
  return inForm(route, "lean");
}

function inForm(route: Route, form: LeanForm): Route {
  let isLeaner = false;
  const steps = route.steps.map((step) => {
    const quote = leanerQuote(step, form);
    if (quote === undefined) return step;
    isLeaner = true;
    return { ...step, quote };
  });
  return isLeaner ? { ...route, steps } : route;
}

/** A venue's code that throws here leaves the swap as it is; the trade goes on. */
function leanerQuote({ hot, quote }: RouteStep, form: LeanForm): Quote | undefined {
  if (hot.refusesLean === "all" || hot.refusesLean === form) return undefined;
  try {
    return hot.venue[form]?.(hot.state, quote);
  } catch (error) {
    hot.failed?.(error);
    return undefined;
  }
}
