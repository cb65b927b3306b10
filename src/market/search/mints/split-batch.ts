/** A request of a key at an address. */
export interface OfCaller {
  readonly address: string;
  readonly key: string;
}

/**
 * Halves a batch that fails because of one item: by address if there are several, else by key, else item by item. This separates callers
 * from a greedy one in few steps, however much it asks for.
 */
export function halvesOf<T extends OfCaller>(batch: readonly T[]): readonly (readonly T[])[] {
  const byAddress = groupedBy(batch, ({ address }) => address);
  const byCaller = byAddress.length > 1 ? byAddress : groupedBy(batch, ({ key }) => key);
  const parts = byCaller.length > 1 ? byCaller : batch.map((item) => [item]);
  const middle = Math.ceil(parts.length / 2);
  return [parts.slice(0, middle).flat(), parts.slice(middle).flat()];
}

export function isOfOneAddress(batch: readonly OfCaller[]): boolean {
  return batch.every(({ address }) => address === batch[0]?.address);
}

function groupedBy<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  return [...Map.groupBy(items, nameOf).values()];
}
