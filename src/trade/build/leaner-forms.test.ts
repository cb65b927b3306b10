import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { readTransaction } from "../../client/verify/read-transaction.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Quote, Venue } from "../../venues/venue.ts";
import { buildTrade } from "./build-trade.ts";

const random = createRandom(174);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, PROGRAM] = [address(), address(), address()];
/** Too many for a transaction without tables. */
const ACCOUNTS = Array.from({ length: 40 }, address);

interface Form {
  readonly isOlder: boolean;
  readonly isLean: boolean;
}

/** A market whose swap names as many accounts as given less by its older instruction, and by leaving out arrays. */
function market(olderSaves: number, leanSaves: number): HotMarket {
  const formOf = ({ fill }: Quote) => (fill as Form | undefined) ?? { isOlder: false, isLean: false };
  const inForm = (quote: Quote, form: Partial<Form>): Quote => ({ ...quote, fill: { ...formOf(quote), ...form } });
  const venue: Partial<Venue> = {
    older: (_, quote) => (olderSaves === 0 || formOf(quote).isOlder ? undefined : inForm(quote, { isOlder: true })),
    lean: (_, quote) => (leanSaves === 0 || formOf(quote).isLean ? undefined : inForm(quote, { isLean: true })),
    swap: (_, quote) => {
      const { isOlder, isLean } = formOf(quote);
      const left = ACCOUNTS.length - (isOlder ? olderSaves : 0) - (isLean ? leanSaves : 0);
      const accounts = ACCOUNTS.slice(0, left).map((one) => ({ address: one, signer: false, writable: true }));
      const data = Uint8Array.of(isOlder ? 1 : 0, isLean ? 1 : 0);
      return { instructions: [{ program: PROGRAM, accounts, data }], computeUnits: 10_000, creates: [] };
    },
  };
  return fakeMarket({ mint: MINT, address: address(), program: PROGRAM, venue });
}

/** The form in which the market is traded. */
async function formOf(hot: HotMarket): Promise<Form> {
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [hot] });
  const { unsignedTransaction } = await buildTrade(ports, buyFor(WALLET, MINT));
  const swap = readTransaction(unsignedTransaction).instructions.find(({ program }) => program === PROGRAM)!;
  return { isOlder: swap.data[0] === 1, isLean: swap.data[1] === 1 };
}

test("arrays are left out only where the older instruction is not lean enough", async () => {
  expect(await formOf(market(16, 16))).toEqual({ isOlder: true, isLean: false });
  expect(await formOf(market(16, 0))).toEqual({ isOlder: true, isLean: false });
  expect(await formOf(market(9, 9))).toEqual({ isOlder: true, isLean: true });
  expect(await formOf(market(0, 16))).toEqual({ isOlder: false, isLean: true });
  await expect(formOf(market(3, 3))).rejects.toMatchObject({ code: "NO_ROUTE" });
});

test("a form is not used on a market whose program refuses it", async () => {
  expect(await formOf({ ...market(16, 16), refusesLean: "older" })).toEqual({ isOlder: false, isLean: true });
  await expect(formOf({ ...market(9, 9), refusesLean: "older" })).rejects.toMatchObject({ code: "NO_ROUTE" });
  await expect(formOf({ ...market(16, 16), refusesLean: "all" })).rejects.toMatchObject({ code: "NO_ROUTE" });
});
