import { expect, test } from "vitest";
import { signedMessages } from "./signed-messages.ts";

const message = Uint8Array.from({ length: 90 }, (_, index) => index + 7);

test("what one copy of the library signed no other copy of it signs: a process may load it twice", async () => {
  const copy = (await import(/* @vite-ignore */ `./signed-messages.ts?${"another copy"}`)) as {
    readonly signedMessages: typeof signedMessages;
  };
  expect(copy.signedMessages).not.toBe(signedMessages);
  const build = {};
  const giveBack = signedMessages().take(message, build);
  expect(() => copy.signedMessages().take(message, {})).toThrow("signed for an earlier order");
  expect(() => copy.signedMessages().take(message, build)).not.toThrow();
  giveBack();
  expect(() => copy.signedMessages().take(message, {})).not.toThrow();
});
