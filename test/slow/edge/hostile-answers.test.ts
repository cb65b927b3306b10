import { it } from "vitest";
import { parseRpcJson } from "../../../src/chain/rpc/rpc-values.ts";
import { usedMs } from "./core-times.ts";
import { ms, percentile, report } from "./table.ts";

const SIZE = 4 * 1024 * 1024 - 100;
const ROUNDS = 15;

const times = (text: string, count: number) => text.repeat(Math.floor(count));
const names = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, i) => `"name${i}":${value}`).join(",")}}`;

const HOSTILE: Readonly<Record<string, string>> = {
  "nested lists": times("[", SIZE / 2) + times("]", SIZE / 2),
  "nested objects": times('{"a":', SIZE / 6) + times("}", SIZE / 6),
  "17-digit numbers": `[${times("12345678901234567,", SIZE / 18 - 1)}1]`,
  "as many large balances as are taken": `[${times("12345678901234567,", 999)}${times("1,", 38_000)}1]`,
  "one string": `"${times("a", SIZE - 2)}"`,
  "a string of escapes": `"${times("\\u0041", SIZE / 6 - 1)}"`,
  "escaped quotes": `"${times('\\"', SIZE / 2 - 1)}"`,
  "as many names as are taken": names(19_000, "1"),
  "too many names": names(100_000, "1"),
  blanks: `${times(" ", SIZE)}1`,
};

it("46: no answer of a node stalls the process", () => {
  const slowest: { readonly name: string; readonly usedMs: number }[] = [];
  for (const [name, result] of Object.entries(HOSTILE)) {
    const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    const used: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = usedMs();
      try {
        parseRpcJson(bytes.toString("utf8"));
      } catch {
        // Refused: that is as good.
      }
      used.push(usedMs() - before);
    }
    slowest.push({ name, usedMs: percentile(used, 0.5) });
  }
  slowest.sort((a, b) => b.usedMs - a.usedMs);
  report(
    46,
    `${slowest.length} answers of up to 4 MiB that are made to stall`,
    `≤ 20 ms of the thread's processor time each, the text decoded and parsed, in the median of ${ROUNDS} calls`,
    slowest.map((one) => `${one.name} ${ms(one.usedMs)}`).join(", "),
    slowest[0]!.usedMs <= 20,
  );
});
