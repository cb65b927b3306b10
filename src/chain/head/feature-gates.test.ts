import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { FEATURE_PROGRAM, TRANSACTION_V1_FEATURE } from "../../solana/features.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { FeatureGates } from "./feature-gates.ts";

const featureAccount = (data: readonly number[], owner = FEATURE_PROGRAM.toString()) => ({
  lamports: 953_520,
  owner,
  data: [Buffer.from(data).toString("base64"), "base64"],
  executable: false,
});
const ACTIVE = featureAccount([1, 5, 0, 0, 0, 0, 0, 0, 0]);
const PENDING = featureAccount([0, 0, 0, 0, 0, 0, 0, 0, 0]);
const FORGED = featureAccount([1, 5, 0, 0, 0, 0, 0, 0, 0], "11111111111111111111111111111111");
const serving = (account: unknown) =>
  fakeEndpoint({ getMultipleAccounts: () => ({ context: { slot: 9 }, value: [account] }) });
const down = () => fakeEndpoint({});
const away = () => {
  throw new Error("away");
};

const gatesOf = (endpoints: ReturnType<typeof fakeEndpoint>[]) =>
  new FeatureGates({ pool: createRpcPool({ endpoints, now: () => 0, warn: () => {} }) });

test.each([
  ["active", [serving(ACTIVE)], true],
  ["announced, but not activated", [serving(PENDING)], false],
  ["absent", [serving(null)], false],
  ["an account that anyone can make", [serving(FORGED)], false],
  ["active on one node of two", [serving(ACTIVE), serving(null)], false],
  ["active on two nodes of three, one of which lies", [serving(null), serving(ACTIVE), serving(ACTIVE)], true],
  ["active on one node of three, which lies", [serving(ACTIVE), serving(null), serving(null)], false],
  ["active on the node that answers", [down(), serving(ACTIVE)], true],
  ["unknown", [down()], false],
])("version 1 counts as active only where the feature account says so: %s", async (_name, endpoints, expected) => {
  const gates = gatesOf(endpoints);
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(expected);
});

test("the known features stay while no node answers", async () => {
  const endpoint = serving(ACTIVE);
  const gates = gatesOf([endpoint]);
  await gates.refresh();
  delete endpoint.methods.getMultipleAccounts;
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(true);
});

test("what two nodes have shown is not undone by one of them, nor by one that alone answers", async () => {
  const [a, b] = [serving(ACTIVE), serving(ACTIVE)];
  const gates = gatesOf([a, b]);
  await gates.refresh();
  const absent = serving(null).methods.getMultipleAccounts!;
  a.methods.getMultipleAccounts = absent;
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(true);
  b.methods.getMultipleAccounts = away;
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(true);
  b.methods.getMultipleAccounts = absent;
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(false);
});

test("a node that says active while the other is away is believed no longer than that", async () => {
  const [liar, honest] = [serving(ACTIVE), serving(null)];
  const answer = honest.methods.getMultipleAccounts!;
  honest.methods.getMultipleAccounts = away;
  const gates = gatesOf([liar, honest]);
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(true);
  honest.methods.getMultipleAccounts = answer;
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(false);
});

test("the trusted node decides", async () => {
  const trusted = serving(ACTIVE);
  const endpoints = [serving(null), serving(null), trusted];
  const gates = new FeatureGates({ pool: createRpcPool({ endpoints, now: () => 0, warn: () => {} }), trusted });
  await gates.refresh();
  expect(gates.isActive(TRANSACTION_V1_FEATURE)).toBe(true);
});
