import { venues } from "../src/venues/registry.ts";
import { readVenueFolders, type VenueFolder } from "./venue-folders.ts";

const count = new Intl.NumberFormat("en-US");

/** The page with its two tables of venues made anew from the venues' folders, in the order of the registry. */
export async function venuesPage(page: string): Promise<string> {
  const folders = await readVenueFolders();
  const ordered = venues.map(({ id }) => folders.find(({ venue }) => venue.id === id)!);
  return withSection(withSection(page, "measured", measuredTable(ordered)), "modelled", modelledTable(ordered));
}

function measuredTable(folders: readonly VenueFolder[]): string {
  const rows = folders.map(({ venue, facts: { measured } }) =>
    measured === undefined
      ? [`\`${venue.id}\``, "none: no program to run", "–", "–", "–", "–"]
      : [
          `\`${venue.id}\``,
          count.format(measured.trades),
          count.format(measured.mismatches),
          count.format(measured.maxUnits),
          measured.worstUnitRatio.toFixed(2),
          count.format(measured.maxBytes),
        ],
  );
  const header = ["venue (`platform`)", "trades", "quoted ≠ executed", "compute units, most", "bound / used, worst"];
  return table([...header, "bytes, most"], rows);
}

function modelledTable(folders: readonly VenueFolder[]): string {
  const rows = folders.map(({ venue, facts: { modelled, exactOut, proof, uncertain } }) => [
    `\`${venue.id}\``,
    modelled,
    exactOut,
    proof,
    uncertain,
  ]);
  return table(["venue", "what is modelled", "exact output", "proof", "uncertain"], rows);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n").replace(/^\| ---.*$/m, `|${"---|".repeat(header.length)}`);
}

/** @throws RangeError if the page has no such section */
function withSection(page: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}: from src/venues/*/facts.ts -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to < from) throw new RangeError(`the page has no section ${name}`);
  return `${page.slice(0, from + start.length)}\n${content}\n${page.slice(to)}`;
}
