import type { Database } from "../../src/accounts/store/schema.ts";
import type { Store } from "../../src/accounts/store/store.ts";

/** How the database would run the queries that `work` makes, in its own words. */
export async function plansOf(store: Store, work: (store: Store) => Promise<unknown>): Promise<string> {
  const made: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const noted = (db: Database) =>
    db.withPlugin({
      transformQuery({ node, queryId }) {
        made.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
  const noting: Store = {
    ...store,
    query(sql, parameters) {
      made.push({ sql, parameters });
      return store.query(sql, parameters);
    },
    write(sql, parameters) {
      made.push({ sql, parameters });
      return store.write(sql, parameters);
    },
    run: (queries) => store.run((db) => queries(noted(db))),
    transact: (queries) => store.transact((db) => queries(noted(db))),
  };
  await work(noting);
  const explain = store.isEmbedded ? "explain query plan" : "explain";
  return JSON.stringify(
    await Promise.all(made.map((query) => store.query(`${explain} ${query.sql}`, query.parameters))),
  );
}
