import { expect, it } from "vitest";
import { ControlAllowance } from "./control-allowance.ts";

it("takes two large messages of a stream that declares no length at once, and no flood beside them", () => {
  const allowance = new ControlAllowance(0);
  allowance.addRequest([], undefined, true);
  expect(allowance.charge({ read: 2 * 200 * 1024, sent: 0 }, 50)).toBe(true);
  expect(allowance.charge({ read: 4 * 200 * 1024, sent: 0 }, 100)).toBe(false);
});

it("takes no more of a declared body than it declares", () => {
  const allowance = new ControlAllowance(0);
  allowance.addRequest([], "1000", true);
  expect(allowance.charge({ read: 70_000, sent: 0 }, 50)).toBe(false);
});
