import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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
  const giveBackToo = copy.signedMessages().take(message, build);
  giveBack();
  giveBackToo();
  expect(() => copy.signedMessages().take(message, {})).not.toThrow();
});

test("a message that was signed twice for its build, and refused once, stays with it", () => {
  const own = message.map((byte) => byte ^ 1);
  const build = {};
  const giveBack = signedMessages().take(own, build);
  signedMessages().take(own, build);
  giveBack();
  expect(() => signedMessages().take(own, {})).toThrow("signed for an earlier order");
  expect(() => signedMessages().take(own, build)).not.toThrow();
});

test("what was signed is remembered without its build, which a bot would otherwise hold for its next 10,000 trades", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const other = message.toReversed();
  const take = () => {
    const build = { unsignedTransaction: message };
    signedMessages().take(other, build);
    return new WeakRef(build);
  };
  const build = take();
  // A reference that was read in this turn is held until the next.
  await setImmediate();
  collectGarbage();
  expect(build.deref()).toBeUndefined();
  expect(() => signedMessages().take(other, {})).toThrow("signed for an earlier order");
});
