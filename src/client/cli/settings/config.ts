import { parse } from "smol-toml";
import { refuseUnknownKeys } from "../../order/known-keys.ts";
import { type CliIo, type CommandLine, textFlag, UsageError } from "../command.ts";

/** Settings of a profile. Paths may begin with ~/. */
export interface Profile {
  readonly url?: string | undefined;
  readonly key_file?: string | undefined;
  readonly api_key_file?: string | undefined;
  readonly node?: string | undefined;
  readonly reference?: string | undefined;
  readonly reference_key_file?: string | undefined;
  readonly network?: string | undefined;
  readonly slippage?: string | undefined;
  readonly priority?: string | undefined;
}

/** The configuration file: the profile in use, and the caller's own token symbols. */
export interface CliConfig {
  readonly profile: Profile;
  /** Mints by symbol, as written. */
  readonly tokens: Readonly<Record<string, string>>;
}

const PROFILE_KEYS = {
  url: true,
  key_file: true,
  api_key_file: true,
  node: true,
  reference: true,
  reference_key_file: true,
  network: true,
  slippage: true,
  priority: true,
} as const satisfies Record<keyof Profile, true>;

/** Where the configuration is, unless TRADEWIRE_CONFIG names another file. */
function configPath({ env }: CliIo): string {
  return env.TRADEWIRE_CONFIG ?? `${env.XDG_CONFIG_HOME ?? `${env.HOME ?? "~"}/.config`}/tradewire/config.toml`;
}

/** The text of a file; undefined if there is none of that name. @throws UsageError if there is one that cannot be read */
export async function readIfThere(io: CliIo, path: string): Promise<string | undefined> {
  try {
    return await io.readFile(path);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * The configuration; empty without a file. One that is there counts: without its profile, a trade would be made with another wallet,
 * another service or no witness. @throws UsageError for a file that cannot be read or is malformed, an unknown key or profile
 */
export async function readConfig(line: CommandLine, io: CliIo): Promise<CliConfig> {
  const path = configPath(io);
  const text = await readIfThere(io, path);
  if (text === undefined && io.env.TRADEWIRE_CONFIG !== undefined) throw new UsageError(`${path} cannot be read.`);
  const asked = textFlag(line, "profile") ?? io.env.TRADEWIRE_PROFILE;
  try {
    return parseConfig(text ?? "", asked);
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

function parseConfig(text: string, asked: string | undefined): CliConfig {
  const file = parse(text);
  refuseUnknownKeys(file, { profile: true, profiles: true, tokens: true }, "the configuration");
  const profiles = tableOf(file.profiles, "profiles");
  const name = asked ?? (file.profile === undefined ? undefined : String(file.profile));
  if (name !== undefined && !Object.hasOwn(profiles, name)) {
    throw new Error(`there is no profile "${name}"; there are: ${Object.keys(profiles).join(", ") || "none"}`);
  }
  const profile = name === undefined ? {} : tableOf(profiles[name], `profiles.${name}`);
  refuseUnknownKeys(profile, PROFILE_KEYS, `profile ${name}`);
  return { profile: textsOf(profile), tokens: textsOf(tableOf(file.tokens, "tokens")) };
}

function tableOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} is not a table`);
  return value as Record<string, unknown>;
}

function textsOf(table: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, String(value)]));
}

/** A path with ~/ in place of the home directory. */
export function expandHome(path: string, { env }: CliIo): string {
  return path.startsWith("~/") && env.HOME !== undefined ? `${env.HOME}${path.slice(1)}` : path;
}
