import { Priority } from "../../../gen/tradewire/v1/types_pb.ts";
import type { TradeRequest } from "../../trade/trade.ts";

type Level = TradeRequest["priority"];

const PRIORITIES: Readonly<Record<Level, Priority>> = {
  economy: Priority.ECONOMY,
  fast: Priority.FAST,
  faster: Priority.FASTER,
  fastest: Priority.FASTEST,
};
const LEVELS = new Map(Object.entries(PRIORITIES).map(([level, priority]) => [priority, level as Level]));

/** The level of a priority that has passed validation. */
export function levelOf(priority: Priority): Level {
  return LEVELS.get(priority)!;
}

/** The priority of a level, as responses contain it. */
export function priorityOf(level: Level): Priority {
  return PRIORITIES[level];
}
