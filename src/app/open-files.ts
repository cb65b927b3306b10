import { readFileSync } from "node:fs";
import type { Config } from "../config/settings.ts";

/** Files left to the process itself, above all for connections to nodes and the database; half of all if that is less. */
const OWN_FILES = 512;

/** Files and connections that this process may have open at once; undefined where the system does not tell. */
export function mostOpenFiles(): number | undefined {
  try {
    const most = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}

/**
 * The connections of callers that leave the process files enough of its own: without them it could reach neither its nodes nor its
 * database, nor answer on its admin port. One address keeps its share.
 *
 * @param files undefined: any number
 */
export function connectionsWithin(
  files: number | undefined,
  { maxConnections, maxConnectionsPerAddress }: Pick<Config, "maxConnections" | "maxConnectionsPerAddress">,
): Pick<Config, "maxConnections" | "maxConnectionsPerAddress"> {
  const room = files === undefined ? maxConnections : Math.max(files - OWN_FILES, Math.floor(files / 2));
  if (room >= maxConnections) return { maxConnections, maxConnectionsPerAddress };
  const share = Math.ceil((maxConnectionsPerAddress * room) / maxConnections);
  return { maxConnections: room, maxConnectionsPerAddress: share };
}
