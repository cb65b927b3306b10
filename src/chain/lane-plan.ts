import { OWN_NODES } from "./lane.ts";
import type { RelayConfig } from "./lane-config.ts";
import type { LaneChoice, LanePlan, Priority, Tip } from "./port.ts";

type Relay = Pick<RelayConfig, "name" | "tipAccounts" | "levels" | "exclusive">;

/**
 * The own nodes and every relay of the level; a relay that wants a transaction to itself gets it, the first such one named.
 */
export function createLanePlan(relays: readonly Relay[]): LanePlan {
  const byLevel: Readonly<Record<Priority, readonly Relay[]>> = {
    economy: relaysOf("economy", relays),
    fast: relaysOf("fast", relays),
    faster: relaysOf("faster", relays),
    fastest: relaysOf("fastest", relays),
  };
  const untipped: LaneChoice = { lanes: [OWN_NODES], tips: [] };
  return {
    choose(level, turn) {
      const chosen = byLevel[level];
      if (chosen.length === 0) return untipped;
      const tips: Tip[] = [];
      for (const { tipAccounts, levels } of chosen) {
        const to = tipAccounts[turn % tipAccounts.length];
        const lamports = levels[level]!;
        if (to !== undefined && lamports > 0n) tips.push({ to, lamports });
      }
      const names = chosen.map(({ name }) => name);
      return { lanes: chosen[0]!.exclusive ? names : [OWN_NODES, ...names], tips };
    },
  };
}

function relaysOf(level: Priority, relays: readonly Relay[]): readonly Relay[] {
  const chosen = relays.filter(({ levels }) => levels[level] !== undefined);
  const exclusive = chosen.find((relay) => relay.exclusive);
  return exclusive === undefined ? chosen : [exclusive];
}
