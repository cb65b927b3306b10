import { PRIORITY_LEVELS, type Priority } from "../chain/port.ts";
import { integer, price } from "./plain-values.ts";
import type { SettingWithDefault } from "./setting.ts";

interface PriorityDefaults {
  /** Lowest and highest price, in micro-lamports per compute unit. */
  readonly floor: bigint;
  readonly cap: bigint;
  /** Share of recent slots ignored as outliers, in percent. */
  readonly trim: number;
}

const DEFAULTS: Readonly<Record<Priority, PriorityDefaults>> = {
  economy: { floor: 0n, cap: 100_000n, trim: 1 },
  fast: { floor: 1_000n, cap: 1_000_000n, trim: 1 },
  faster: { floor: 10_000n, cap: 5_000_000n, trim: 2 },
  fastest: { floor: 100_000n, cap: 20_000_000n, trim: 3 },
};

type PricePart = "FLOOR" | "CAP";
type PrioritySettings = {
  readonly [Name in `PRIORITY_${Uppercase<Priority>}_${PricePart}`]: SettingWithDefault<bigint>;
} & { readonly [Name in `PRIORITY_${Uppercase<Priority>}_TRIM`]: SettingWithDefault<number> };

/** Three settings for each priority level: `PRIORITY_FAST_FLOOR`, `PRIORITY_FAST_CAP`, `PRIORITY_FAST_TRIM`. */
export const PRIORITY_SETTINGS = Object.fromEntries(
  PRIORITY_LEVELS.flatMap((level) => {
    const { floor, cap, trim } = DEFAULTS[level];
    const name = `PRIORITY_${level.toUpperCase()}`;
    return [
      [`${name}_FLOOR`, price(`Lowest priority fee of level ${level}`, floor)],
      [`${name}_CAP`, price(`Highest priority fee of level ${level}`, cap)],
      [`${name}_TRIM`, integer(`Most expensive slots ignored as outliers, level ${level}`, "percent", trim, 0, 50)],
    ];
  }),
) as PrioritySettings;

type PriorityKey<Part extends string> = `priority${Capitalize<Priority>}${Part}`;

/** Lowest and highest price of each priority level, in micro-lamports per compute unit. */
export function priorityBounds(
  config: Readonly<Record<PriorityKey<"Floor" | "Cap">, bigint>>,
): Readonly<Record<Priority, { readonly floor: bigint; readonly cap: bigint }>> {
  return byLevel((level) => ({ floor: config[`priority${level}Floor`], cap: config[`priority${level}Cap`] }));
}

/** Share of recent slots that each priority level ignores as outliers, in percent. */
export function priorityTrims(
  config: Readonly<Record<PriorityKey<"Trim">, number>>,
): Readonly<Record<Priority, number>> {
  return byLevel((level) => config[`priority${level}Trim`]);
}

function byLevel<T>(read: (level: Capitalize<Priority>) => T): Readonly<Record<Priority, T>> {
  const entries = PRIORITY_LEVELS.map((level) => [
    level,
    read((level.charAt(0).toUpperCase() + level.slice(1)) as Capitalize<Priority>),
  ]);
  return Object.fromEntries(entries) as Record<Priority, T>;
}
