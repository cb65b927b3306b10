import { expect, it } from "vitest";
import { EXIT, exitCodeOfTrade } from "./command.ts";

it("says of a trade that may still be dropped, or may have failed in its block, that it is undecided", () => {
  const codes = (["pending", "processed", "confirmed", "finalized"] as const).map((status) =>
    exitCodeOfTrade({ status }),
  );
  expect(codes).toEqual([EXIT.undecided, EXIT.undecided, EXIT.done, EXIT.done]);
});
