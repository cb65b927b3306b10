import type { Address } from "../../primitives/address.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import type { Priority, SenderChoice, SenderPlan, Tip } from "../port.ts";
import type { RelayConfig } from "./relay-config.ts";
import { OWN_NODES } from "./sender.ts";
import type { TipFloor, TipPercentile } from "./tip-floor.ts";

type Relay = Pick<RelayConfig, "name" | "tipAccounts" | "levels" | "exclusive" | "leastTip" | "tipFloor">;
/** What landed tips are, as told at these URLs. */
type TipFloors = ReadonlyMap<string, Pick<TipFloor, "lamports">>;

/** A relay as one level uses it. */
interface Stop {
  readonly tipAccounts: readonly Address[];
  /** The tip as configured, and between which it is held where landed tips are known. */
  readonly tip: bigint;
  readonly least: bigint;
  readonly most: bigint;
  readonly floor: Pick<TipFloor, "lamports"> | undefined;
  readonly percentile: TipPercentile;
}

interface Way {
  readonly senders: readonly string[];
  readonly stops: readonly Stop[];
}

/**
 * The own nodes and every relay of the level; a relay that wants a transaction to itself gets it, the first such one named.
 * A tip is what lands now, between the relay's least and the level's cap, where that is known; else what is configured.
 */
export function createSenderPlan(relays: readonly Relay[], floors: TipFloors = new Map()): SenderPlan {
  const byLevel: Readonly<Record<Priority, Way>> = {
    economy: wayOf("economy", relays, floors),
    fast: wayOf("fast", relays, floors),
    faster: wayOf("faster", relays, floors),
    fastest: wayOf("fastest", relays, floors),
  };
  const untipped: SenderChoice = { senders: [OWN_NODES], tips: [] };
  return {
    choose(level, turn) {
      const { senders, stops } = byLevel[level];
      if (stops.length === 0) return untipped;
      const tips: Tip[] = [];
      for (const stop of stops) {
        const to = stop.tipAccounts[turn % stop.tipAccounts.length];
        const lamports = tipAt(stop);
        if (to !== undefined && lamports > 0n) tips.push({ to, lamports });
      }
      return { senders, tips };
    },
  };
}

function tipAt({ tip, least, most, floor, percentile }: Stop): bigint {
  const landed = floor?.lamports(percentile);
  return landed === undefined ? tip : minOf(maxOf(landed, least), most);
}

function wayOf(level: Priority, relays: readonly Relay[], floors: TipFloors): Way {
  const all = relays.filter(({ levels }) => levels[level] !== undefined);
  const exclusive = all.find((relay) => relay.exclusive);
  const chosen = exclusive === undefined ? all : [exclusive];
  const names = chosen.map(({ name }) => name);
  return {
    senders: exclusive === undefined ? [OWN_NODES, ...names] : names,
    stops: chosen.map(({ tipAccounts, levels, leastTip, tipFloor }) => ({
      tipAccounts,
      tip: levels[level]!,
      least: leastTip,
      most: tipFloor?.caps[level] ?? levels[level]!,
      floor: tipFloor === undefined ? undefined : floors.get(tipFloor.url),
      percentile: tipFloor?.percentiles[level] ?? 50,
    })),
  };
}
