import { createHmac } from "node:crypto";
import type { Store } from "../store/store.ts";

/** Identifies the pepper without revealing it. */
const markOf = (pepper: Uint8Array): string =>
  createHmac("sha256", pepper).update("tradewire: the pepper of this database").digest("hex");

/**
 * Verifies that this database's keys are hashed with this pepper; the first process to ask decides. With another one, a
 * process would refuse every key and issue keys that all others refuse. Writes at the first start only: later ones need no more of a
 * database that takes no writes.
 *
 * @throws Error if it is another pepper, with what to do
 */
export async function requirePepper(store: Store, pepper: Uint8Array): Promise<void> {
  const mark = markOf(pepper);
  let standing = await markIn(store);
  if (standing === undefined) {
    await store.run((db) =>
      db
        .insertInto("pepper_mark")
        .values({ id: 1, mark })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute(),
    );
    standing = await markIn(store);
  }
  if (standing === mark) return;
  throw new Error(
    "The API keys in this database were hashed with another KEY_PEPPER. Set that one or, if it was generated, restore the " +
      "file key-pepper in DATA_DIR. To give up all keys, empty the table pepper_mark.",
  );
}

async function markIn(store: Store): Promise<string | undefined> {
  const row = await store.run((db) => db.selectFrom("pepper_mark").select("mark").executeTakeFirst());
  return row?.mark;
}
