import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { shadowMode } from "../config/chain-settings.ts";
import type { Config } from "../config/settings.ts";
import { checkProduction } from "./embedded-chain-rule.ts";

/** What is about to start: the service with this many processes, or the embedded chain alone. */
interface StartPlan {
  readonly workers?: number | undefined;
  readonly chainAlone?: boolean;
}

/**
 * Checks that this machine has what the settings name: readable files, writable folders, ports that do not collide. Opens
 * no port and leaves nothing behind, so it can run beside a live service.
 *
 * @returns the problems, each naming its setting; none if the service can start
 */
export function runPreflight(config: Config, { workers = 1, chainAlone = false }: StartPlan = {}): readonly string[] {
  if (chainAlone) return checkPrograms(config);
  return [
    ...checkProduction(config),
    ...checkCertificate(config),
    ...checkDataDir(config),
    ...checkTemporary(config),
    ...checkPrograms(config),
    ...checkPorts(config, workers),
  ];
}

function checkCertificate({ tlsCert, tlsKey }: Config): readonly string[] {
  if (tlsCert === undefined || tlsKey === undefined) return [];
  const cert = readable(tlsCert);
  const key = readable(tlsKey);
  const problems: string[] = [];
  if (cert === undefined) problems.push(`TLS_CERT names ${tlsCert}, which cannot be read.`);
  if (key === undefined) problems.push(`TLS_KEY names ${tlsKey}, which cannot be read.`);
  if (cert === undefined || key === undefined) return problems;
  try {
    createSecureContext({ cert, key });
    return [];
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "not PEM";
    return [`TLS_CERT and TLS_KEY are not a certificate and its key in PEM (${why}).`];
  }
}

function readable(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Why callers refuse a certificate that this machine can use. @returns a line, or none */
export function doubtCertificate({ tlsCert }: Config, nowMs: number): readonly string[] {
  if (tlsCert === undefined) return [];
  const { validFromDate: from, validToDate: to } = new X509Certificate(readFileSync(tlsCert));
  if (from.getTime() > nowMs) return [`TLS_CERT is valid from ${from.toISOString()}: callers refuse it until then.`];
  if (to.getTime() < nowMs) return [`TLS_CERT was valid until ${to.toISOString()}: callers refuse it.`];
  return [];
}

/** The folder of generated secrets and of the embedded database. Created on start if missing. */
function checkDataDir({ dataDir, databaseUrl, keyPepper, tokenKeys }: Config): readonly string[] {
  if (databaseUrl !== undefined && keyPepper !== undefined && tokenKeys !== undefined) return [];
  try {
    const place = nearestExisting(resolve(dataDir));
    if (!statSync(place).isDirectory()) return [`DATA_DIR is ${dataDir}, and ${place} is not a folder.`];
    tryFolder(place);
    return [];
  } catch {
    return [`DATA_DIR is ${dataDir}, which this user may not write to.`];
  }
}

/** Every system takes 103 bytes as the path of a socket, of which `/tradewire-shadow-XXXXXX/socket` takes 31. */
const LONGEST_TEMPORARY_PATH = 103 - 31;

/** The folder that the shadow process's socket is made in. */
function checkTemporary(config: Config): readonly string[] {
  if (shadowMode(config) === "off") return [];
  const folder = tmpdir();
  const refuse = (why: string) => [
    `The folder for temporary files is ${folder}, ${why}: set TMPDIR to another, or SHADOW_EXECUTION=off.`,
  ];
  if (Buffer.byteLength(folder) > LONGEST_TEMPORARY_PATH)
    return refuse(`too long a path for a socket in it, of ${LONGEST_TEMPORARY_PATH} bytes at most`);
  try {
    tryFolder(folder);
    return [];
  } catch {
    return refuse("which this user may not write to");
  }
}

/** Permissions alone do not show whether a folder can be written to: its file system may be read-only. @throws Error if it cannot */
function tryFolder(path: string): void {
  rmdirSync(mkdtempSync(join(path, ".tradewire-")));
}

function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path) return path;
  return nearestExisting(dirname(path));
}

function checkPrograms({ sandboxPrograms, solanaRpcUrls }: Config): readonly string[] {
  if (sandboxPrograms === undefined || solanaRpcUrls !== undefined) return [];
  try {
    if (readdirSync(sandboxPrograms).some((name) => name.endsWith(".so"))) return [];
    return [`SANDBOX_PROGRAMS names ${sandboxPrograms}, a folder without a program (<name>.so).`];
  } catch {
    return [`SANDBOX_PROGRAMS names ${sandboxPrograms}, which is not a folder that can be read.`];
  }
}

const MAX_PORT = 65_535;

interface Listener {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

function checkPorts(config: Config, workers: number): readonly string[] {
  const listeners: Listener[] = [{ name: "PORT", host: config.host, port: config.port }];
  for (let i = 0; i < (config.adminPort === 0 ? 0 : workers); i++) {
    const name = i === 0 ? "ADMIN_PORT" : `ADMIN_PORT of worker ${i + 1}`;
    listeners.push({ name, host: config.adminHost, port: config.adminPort + i });
  }
  if (config.solanaRpcUrls === undefined && config.sandboxPort !== 0) {
    const { sandboxHost: host, sandboxPort: port } = config;
    listeners.push({ name: "SANDBOX_PORT", host, port });
    listeners.push({ name: "SANDBOX_PORT + 1, its WebSocket,", host, port: port + 1 });
  }
  const shared = listeners.flatMap((one, at) =>
    listeners
      .slice(0, at)
      .filter((other) => other.port !== 0 && other.port === one.port && sharesHost(one, other))
      .map((other) => `${one.name} is ${one.port}, as ${other.name} is: give them different ports.`),
  );
  const beyond = listeners.find(({ port }) => port > MAX_PORT);
  return beyond === undefined
    ? shared
    : [...shared, `${beyond.name} is ${beyond.port}, above ${MAX_PORT}: set a lower ADMIN_PORT.`];
}

const ALL_INTERFACES = new Set(["0.0.0.0", "::"]);

function sharesHost(one: Listener, other: Listener): boolean {
  return one.host === other.host || ALL_INTERFACES.has(one.host) || ALL_INTERFACES.has(other.host);
}
