import { existsSync, readdirSync } from "node:fs";
import type { Venue } from "../src/venues/venue.ts";
import type { VenueFacts } from "../src/venues/venue-facts.ts";

/** A venue as its folder describes it: `venue.ts` for the service, `facts.ts` for tests, scripts and pages. */
export interface VenueFolder {
  /** Name of the folder: the venue's id with dashes. */
  readonly name: string;
  readonly url: URL;
  readonly venue: Venue;
  readonly facts: VenueFacts;
}

const VENUES = new URL("../src/venues/", import.meta.url);

/**
 * Every folder below `root` with a `venue.ts` and a `facts.ts`, by name.
 * @throws RangeError if a `venue.ts` exports no venue of the folder's name, or a `facts.ts` no facts
 */
export async function readVenueFolders(root: URL = VENUES): Promise<readonly VenueFolder[]> {
  const names = readdirSync(root).filter((name) => existsSync(new URL(`${name}/venue.ts`, root)));
  return Promise.all(names.sort().map((name) => readVenueFolder(name, new URL(`${name}/`, root))));
}

async function readVenueFolder(name: string, url: URL): Promise<VenueFolder> {
  const venue = Object.values(await importFile("venue.ts", url)).find(isVenue);
  if (venue?.id.replaceAll("_", "-") !== name) throw new RangeError(`${name}/venue.ts exports no venue of that name`);
  const facts = Object.values(await importFile("facts.ts", url)).find(areFacts);
  if (facts === undefined) throw new RangeError(`${name}/facts.ts exports no facts`);
  return { name, url, venue, facts };
}

function isVenue(value: unknown): value is Venue {
  return typeof value === "object" && value !== null && "quote" in value && "swap" in value && "id" in value;
}

function areFacts(value: unknown): value is VenueFacts {
  return typeof value === "object" && value !== null && "curve" in value && "modelled" in value;
}

function importFile(name: string, folder: URL): Promise<Readonly<Record<string, unknown>>> {
  return import(new URL(name, folder).href);
}
