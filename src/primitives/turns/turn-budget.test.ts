import { expect, test, vi } from "vitest";
import { TurnBudget } from "./turn-budget.ts";

test("a spent budget is renewed at the next turn of the loop, and waiters go on one by one", () => {
  vi.useFakeTimers();
  try {
    const budget = new TurnBudget(3);
    const went: string[] = [];
    budget.spend();
    expect(budget.isSpent).toBe(false);
    for (let i = 0; i < 5; i++) budget.spend();
    expect(budget.isSpent).toBe(true);
    const gone = () => void went.push("gone");
    budget.whenRenewed(gone);
    for (const name of ["first", "second"]) budget.whenRenewed(() => void went.push(name));
    budget.forget(gone);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersToNextTimer();
    expect(went).toEqual(["first"]);
    vi.advanceTimersToNextTimer();
    expect(went).toEqual(["first", "second"]);
    expect(budget.isSpent).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
