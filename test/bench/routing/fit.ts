import { createHash } from "node:crypto";
import { Address } from "../../../src/primitives/address.ts";
import type { LookupTable } from "../../../src/solana/message.ts";
import { measureRoutes, type RouteFitPorts } from "../../../src/trade/build/route-fit.ts";
import { allAtOnce } from "../../../src/trade/quote/long-searches.ts";
import { pathCount, type Route } from "../../../src/trade/quote/route.ts";
import { fittingDivision } from "../../../src/trade/quote/split/fitting-division.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import type { RoutedAsk, routesFor } from "./routed.ts";
import { accountsOfWorld, type RoutingWorld } from "./worlds.ts";

/** Kinds of transactions. */
export const FORMS = ["plain", "tables", "v1"] as const;
export type Form = (typeof FORMS)[number];

/** Of one ask and kind of transaction: whether the best route fits, and what the best one that fits gives. */
export interface Fit {
  readonly fits: boolean;
  /** Whether the best route of one path fits, of one to three markets in a row. */
  readonly singleFits: boolean;
  readonly outAmount: number;
}

/** Addresses of one table at most. */
const TABLE_ENTRIES = 256;
/** Routes beside single paths and narrower divisions that are tried. */
const MOST_TRIED = 2;
const WALLET = Address.from(new Uint8Array(32).fill(7));
let ports: RouteFitPorts | undefined;

/**
 * What the routes of an ask give in transactions of version 0 without and with tables, and of version 1, for a wallet that has
 * its token accounts.
 *
 * @param best the router's best route, with how it is narrowed
 */
export function fitOf(world: RoutingWorld, asked: RoutedAsk, best: ReturnType<typeof routesFor>): Record<Form, Fit> {
  ports ??= memoryPorts({ mint: world.mints[0]!, clock: world.clock, wallet: WALLET, markets: [] });
  const narrower = [3, 2]
    .map((paths) => best.splits && allAtOnce(best.splits.narrower(paths)))
    .filter((route) => route !== undefined);
  const routes = [
    ...best.routes.slice(0, MOST_TRIED),
    ...narrower,
    ...best.routes.filter((one) => pathCount(one) === 1),
  ];
  const tables = tablesOf(world);
  const [single] = best.routes.filter((one) => pathCount(one) === 1);
  const fitIn = (form: Form): Fit => {
    const settings = { ...ports!.settings, transactionV1: form === "v1" };
    const changed = { ...ports!, settings, lookupTables: () => (form === "tables" ? tables : []) };
    const fitsIn = (route: Route) =>
      measureRoutes(changed, asked.intent, asked.snapshot, [route], form === "v1" ? 1 : 0)[0]!.kind !== "never";
    const [widest] = routes;
    const singleFits = single === undefined || fitsIn(single);
    if (widest === undefined || fitsIn(widest))
      return { fits: true, singleFits, outAmount: Number(widest?.outAmount ?? 0) };
    const isDivided = form !== "plain" && pathCount(widest) > 1 && best.splits !== undefined;
    const lighter = isDivided ? allAtOnce(fittingDivision("exactIn", best.splits, widest, fitsIn)) : undefined;
    const others = routes.slice(1).filter(fitsIn);
    const outs = [...others, ...(lighter === undefined ? [] : [lighter])].map(({ outAmount }) => Number(outAmount));
    return { fits: false, singleFits, outAmount: Math.max(0, ...outs) };
  };
  return { plain: fitIn("plain"), tables: fitIn("tables"), v1: fitIn("v1") };
}

/**
 * The tables that an operator would have, by one rule that knows no ask: the accounts of a small trade in each direction on
 * every market, market after market, as many tables as that takes.
 */
function tablesOf(world: RoutingWorld): readonly LookupTable[] {
  const entries = accountsOfWorld(world);
  return Array.from({ length: Math.ceil(entries.length / TABLE_ENTRIES) }, (_, index) => ({
    address: Address.from(createHash("sha256").update(`table ${index}`).digest()),
    entries: entries.slice(index * TABLE_ENTRIES, (index + 1) * TABLE_ENTRIES),
  }));
}
