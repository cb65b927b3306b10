/**
 * Trades that happened on mainnet beside our quotes of them: a row for each venue and source, and every trade that differs.
 * `npm run replay`
 */
import { replayRecordedEvents } from "./recorded-events.ts";
import type { Replayed } from "./replayed.ts";
import { replayWhirlpools } from "./whirlpool-history.ts";

const trades = [...replayRecordedEvents(), ...replayWhirlpools()];
const differs = ({ happened, quoted }: Replayed): boolean => happened !== quoted;
const groups = new Map<string, Replayed[]>();
for (const trade of trades) {
  const { repository, commit, licence } = trade.source;
  const key = `${trade.venue.padEnd(18)} ${repository} ${commit} (${licence})`;
  groups.set(key, [...(groups.get(key) ?? []), trade]);
}
for (const [key, made] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
  const unequal = made.filter(differs);
  const explained = unequal.filter(({ explained }) => explained !== undefined).length;
  print(`${key}: ${made.length} trades, ${made.length - unequal.length} equal, ${explained} explained`);
}
const venues = new Set(trades.map(({ venue }) => venue)).size;
const unequal = trades.filter(differs);
for (const { venue, signature, happened, quoted, explained } of unequal)
  print(`${explained ?? "DIFFERS"}: ${venue} ${signature}: happened ${happened}, quoted ${quoted}`);
const unexplained = unequal.filter(({ explained }) => explained === undefined).length;
print(
  `In all: ${trades.length} trades over ${venues} venues, ${trades.length - unequal.length} equal, ${unexplained} unexplained`,
);
process.exitCode = unexplained === 0 ? 0 : 1;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
