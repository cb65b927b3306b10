import type { Address } from "../../primitives/address.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority, type SenderChoice, type SenderPlan, type Tip } from "../port.ts";
import type { RelayConfig } from "./relay-config.ts";
import { OWN_NODES } from "./sender.ts";
import type { TipFloor, TipPercentile } from "./tip-floor.ts";

type PlannedRelay = Pick<RelayConfig, "name" | "tipAccounts" | "levels" | "exclusive" | "leastTip" | "tipFloor">;
/** Landed tips by the URL they are read from. */
type TipFloors = ReadonlyMap<string, Pick<TipFloor, "lamports">>;

/** What one level pays a relay. Lamports. */
interface TipRule {
  readonly tipAccounts: readonly Address[];
  /** The configured tip, paid while landed tips are unknown. */
  readonly tip: bigint;
  /** Bounds of a tip that follows landed tips. */
  readonly least: bigint;
  readonly most: bigint;
  readonly floor: Pick<TipFloor, "lamports"> | undefined;
  readonly percentile: TipPercentile;
}

interface LevelPlan {
  readonly senders: readonly string[];
  readonly tipRules: readonly TipRule[];
}

/**
 * Plans each level's senders: the own nodes and every relay of the level, or only the first exclusive relay if there is one.
 * A tip follows what lands now, between the relay's minimum and the level's cap; while that is unknown it is the configured one.
 */
export function createSenderPlan(relays: readonly PlannedRelay[], floors: TipFloors = new Map()): SenderPlan {
  const plans = new Map(PRIORITY_LEVELS.map((level) => [level, planOf(level, relays, floors)]));
  const untipped: SenderChoice = { senders: [OWN_NODES], tips: [] };
  return {
    choose(level, turn) {
      const { senders, tipRules } = plans.get(level)!;
      if (tipRules.length === 0) return untipped;
      const tips: Tip[] = [];
      for (const rule of tipRules) {
        const to = rule.tipAccounts[turn % rule.tipAccounts.length];
        const lamports = tipNow(rule);
        if (to !== undefined && lamports > 0n) tips.push({ to, lamports });
      }
      return { senders, tips };
    },
  };
}

function tipNow({ tip, least, most, floor, percentile }: TipRule): bigint {
  const landed = floor?.lamports(percentile);
  return landed === undefined ? tip : minOf(maxOf(landed, least), most);
}

function planOf(level: Priority, relays: readonly PlannedRelay[], floors: TipFloors): LevelPlan {
  const all = relays.filter(({ levels }) => levels[level] !== undefined);
  const exclusive = all.find((relay) => relay.exclusive);
  const chosen = exclusive === undefined ? all : [exclusive];
  const names = chosen.map(({ name }) => name);
  return {
    senders: exclusive === undefined ? [OWN_NODES, ...names] : names,
    tipRules: chosen.map(({ tipAccounts, levels, leastTip, tipFloor }) => ({
      tipAccounts,
      tip: levels[level]!,
      least: leastTip,
      most: tipFloor?.caps[level] ?? levels[level]!,
      floor: tipFloor === undefined ? undefined : floors.get(tipFloor.url),
      percentile: tipFloor?.percentiles[level] ?? 50,
    })),
  };
}
