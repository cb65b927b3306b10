import { expect, test } from "vitest";
import { Address } from "../address.ts";
import { createRandom } from "../random.ts";
import { AddressTable } from "./address-table.ts";

interface Numbered {
  readonly table: object;
  readonly number: number;
}

test("tables of one place answer as maps do, whatever was set and deleted in which order", () => {
  const random = createRandom(41);
  const addresses = Array.from({ length: 12 }, () => Address.from(random.bytes(32)));
  const tables = [1, 2, 3].map(() => ({
    table: new AddressTable<Numbered>("pair"),
    map: new Map<Address, Numbered>(),
  }));
  for (let number = 0; number < 400; number++) {
    const { table, map } = random.pick(tables);
    const address = random.pick(addresses);
    if (random.chance(0.02)) table.detach();
    else if (random.chance(0.4)) {
      table.delete(address);
      map.delete(address);
    } else {
      const value = { table, number };
      table.set(address, value);
      map.set(address, value);
    }
    for (const one of tables) {
      for (const each of addresses) expect(one.table.get(each)).toBe(one.map.get(each));
      expect([...one.table.keys()]).toEqual([...one.map.keys()]);
      expect(one.table.size).toBe(one.map.size);
    }
  }
});

test("tables of other places have nothing to do with one another", () => {
  const address = Address.from(createRandom(5).bytes(32));
  const singles = new AddressTable<Numbered>("single");
  const templates = new AddressTable<Numbered>("templates");
  singles.set(address, { table: singles, number: 1 });
  templates.set(address, { table: templates, number: 2 });
  singles.delete(address);
  expect([singles.get(address), templates.get(address)?.number]).toEqual([undefined, 2]);
});

test("what an address keeps is no part of its value: it is not copied, printed or compared", () => {
  const bytes = createRandom(6).bytes(32);
  const table = new AddressTable<Numbered>("single");
  const before = Object.keys(Address.from(bytes));
  const copied = structuredClone(Address.from(bytes));
  table.set(Address.from(bytes), { table, number: 1 });
  expect(Object.keys(Address.from(bytes))).toEqual(before);
  expect(structuredClone(Address.from(bytes))).toStrictEqual(copied);
  expect(Address.from(bytes).bytes).toEqual(bytes);
});
