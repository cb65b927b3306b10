import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { afterRunning } from "./after-running.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("calls back once, after the time, unless it is stopped", () => {
  const late = vi.fn();
  afterRunning(1_000, late);
  const stop = afterRunning(1_000, () => expect.unreachable());
  vi.advanceTimersByTime(999);
  expect(late).not.toHaveBeenCalled();
  stop();
  vi.advanceTimersByTime(10_000);
  expect(late).toHaveBeenCalledTimes(1);
});
