import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { FollowedAccount, Upheavals } from "./followed-account.ts";

test("an account takes in once, in order, what happened to all since it was last looked at", () => {
  const upheavals = new Upheavals();
  upheavals.add((standing) => {
    standing.provenAtMs = 99;
  });
  const account = new FollowedAccount(Address.from(new Uint8Array(32).fill(1)), upheavals);
  account.streamed = true;
  account.coveredFrom = 7n;
  const happened: string[] = [];
  upheavals.add((standing) => {
    happened.push(`first ${standing.streamed}`);
    standing.streamed = false;
    standing.provenAtMs = 5;
  });
  upheavals.add((standing, of) => {
    happened.push(`second ${standing.streamed} ${standing.provenAtMs} ${of === account.address}`);
    standing.coveredFrom = undefined;
  });
  expect([account.streamed, account.provenAtMs, account.coveredFrom]).toEqual([false, 5, undefined]);
  account.streamed = true;
  expect(account.streamed).toBe(true);
  expect(happened).toEqual(["first true", "second false 5 true"]);
});
