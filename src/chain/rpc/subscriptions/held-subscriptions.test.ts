import { expect, test } from "vitest";
import { HeldSubscriptions } from "./held-subscriptions.ts";
import type { SubscriptionConnection } from "./subscription-connection.ts";

/** A connection to a node that refuses every subscription, with the first parameters of those asked for. */
function refusingConnection() {
  const asked: unknown[] = [];
  const connection: Pick<SubscriptionConnection, "isOpen" | "request"> = {
    isOpen: true,
    request(_method, [about], onAnswer) {
      asked.push(about);
      onAnswer?.(undefined);
    },
  };
  return { connection: connection as SubscriptionConnection, asked };
}

test("refused subscriptions that nobody wants any more take no turn of those that are asked for again", () => {
  const held = new HeldSubscriptions();
  const { connection, asked } = refusingConnection();
  held.begin(connection);
  const add = (kind: "signature" | "account", about: string) => held.add({ kind, params: [about], onNotice: () => {} });
  for (let i = 0; i < 50; i++) add("signature", `${i}`)();
  add("account", "wanted");
  asked.length = 0;
  held.retryRefused(20);
  expect(asked).toEqual(["wanted"]);
});
