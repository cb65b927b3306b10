import { SETTING_SECTIONS } from "./settings.ts";

/** One row of the table of settings, in words. */
interface SettingDescription {
  readonly names: readonly string[];
  readonly about: string;
  readonly bound: string;
  readonly unit: string;
  /** As it would be written; undefined if there is no default. */
  readonly fallback: string | undefined;
}

interface DescribedSection {
  readonly title: string;
  readonly settings: readonly SettingDescription[];
}

/** The table of all settings, section by section, for pages. */
export function listSettings(): readonly DescribedSection[] {
  return SETTING_SECTIONS.map(({ title, settings }) => ({
    title,
    settings: Object.entries(settings).map(([name, { about, bound, unit, fallback, alias }]) => ({
      names: alias === undefined ? [name] : [name, alias],
      about,
      bound: bound.charAt(0).toUpperCase() + bound.slice(1),
      unit,
      fallback,
    })),
  }));
}

/** The table of all settings as text, for a terminal. */
export function describeSettings(): string {
  return listSettings()
    .flatMap(({ settings }) => settings)
    .map(({ names, about, bound, unit, fallback }) => {
      const ending = fallback === undefined ? "" : ` Default: ${fallback === "" ? "none" : fallback}.`;
      return `${names.join(", ")}\n    ${about}.\n    ${bound} (${unit}).${ending}`;
    })
    .join("\n");
}
