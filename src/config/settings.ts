import { CHAIN_SETTINGS, SANDBOX_SETTINGS, SHADOW_SETTINGS, TRADE_SETTINGS } from "./chain-settings.ts";
import { CONNECTION_SETTINGS, LIMIT_SETTINGS } from "./edge-settings.ts";
import { ACCOUNT_SETTINGS, LISTENING_SETTINGS, STOPPING_SETTINGS, TRACE_SETTINGS } from "./service-settings.ts";
import type { Setting } from "./setting.ts";

/** A heading of the table of settings, with what stands under it. */
interface SettingSection {
  readonly title: string;
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
}

/** Every setting there is, section by section. */
export const SETTING_SECTIONS: readonly SettingSection[] = [
  { title: "Listening", settings: LISTENING_SETTINGS },
  { title: "Accounts and secrets", settings: ACCOUNT_SETTINGS },
  { title: "The chain", settings: CHAIN_SETTINGS },
  { title: "The embedded chain", settings: SANDBOX_SETTINGS },
  { title: "Trades and priority fees", settings: TRADE_SETTINGS },
  { title: "Shadow execution", settings: SHADOW_SETTINGS },
  { title: "Connections", settings: CONNECTION_SETTINGS },
  { title: "Limits and overload", settings: LIMIT_SETTINGS },
  { title: "Traces", settings: TRACE_SETTINGS },
  { title: "Stopping", settings: STOPPING_SETTINGS },
];

type Settings = typeof LISTENING_SETTINGS &
  typeof ACCOUNT_SETTINGS &
  typeof CHAIN_SETTINGS &
  typeof SANDBOX_SETTINGS &
  typeof TRADE_SETTINGS &
  typeof SHADOW_SETTINGS &
  typeof CONNECTION_SETTINGS &
  typeof LIMIT_SETTINGS &
  typeof TRACE_SETTINGS &
  typeof STOPPING_SETTINGS;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;

type ValueOf<S> = S extends { readonly fallback: string; parse(text: string): infer T | undefined }
  ? NonNullable<T>
  : S extends { parse(text: string): infer T }
    ? T | undefined
    : never;

/** The parsed settings: `DATA_DIR` is `dataDir`. */
export type Config = { readonly [K in keyof Settings as CamelCase<K>]: ValueOf<Settings[K]> };
