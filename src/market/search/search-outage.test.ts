import { expect, test } from "vitest";
import type { AccountReader, ProgramFilter } from "../../chain/port.ts";
import { watchSearchOutages } from "./search-outage.ts";

test("an outage of searches is one line, and the next outage another", async () => {
  let isDown = true;
  const reader = {
    fetchProgramAccounts: async () => {
      if (isDown) throw new Error("down");
      return [];
    },
  } as unknown as AccountReader;
  const lines: string[] = [];
  const outage = watchSearchOutages(reader, (line) => void lines.push(line));
  const search = async () => {
    for (let i = 0; i < 41; i++)
      await outage.reader.fetchProgramAccounts({} as ProgramFilter).catch(() => outage.warn(`Search ${i} failed.`));
  };
  await search();
  expect(lines).toEqual(["Search 0 failed. Further failed searches are not logged until one succeeds."]);
  isDown = false;
  await search();
  outage.warn("A market cannot be read.");
  isDown = true;
  await search();
  expect(lines).toHaveLength(3);
});
