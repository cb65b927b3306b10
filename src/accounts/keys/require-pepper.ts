import { createHmac } from "node:crypto";
import type { Store } from "../store/store.ts";

/** Says which pepper made a database's key hashes, and nothing of what it is. */
const markOf = (pepper: Uint8Array): string =>
  createHmac("sha256", pepper).update("tradewire: the pepper of this database").digest("hex");

/**
 * Makes sure that the pepper is the one this database's key hashes are made with; the first that comes is. With another,
 * a process would refuse every key, and issue keys that all other processes refuse.
 *
 * @throws Error when it is another, saying what to do
 */
export async function requirePepper(store: Store, pepper: Uint8Array): Promise<void> {
  const mark = markOf(pepper);
  await store.run((db) =>
    db
      .insertInto("pepper_mark")
      .values({ id: 1, mark })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute(),
  );
  const standing = await store.run((db) => db.selectFrom("pepper_mark").select("mark").executeTakeFirstOrThrow());
  if (standing.mark === mark) return;
  throw new Error(
    "The API keys in this database were made with another KEY_PEPPER. Set that one or, where it was made here, restore the " +
      "file key-pepper in DATA_DIR. To give all keys up, empty the table pepper_mark.",
  );
}
