import { afterAll, beforeAll, expect, test } from "vitest";
import type { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { Address } from "../../src/primitives/address.ts";
import { readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** Where a token account has its balance. */
const AMOUNT = 64;
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.close());

test("tokens sent into an account before each sale of all of it make one sale fail, and no other", async () => {
  const { mint } = service.sandbox.world.tokens.find(
    ({ venue, quoteMint }) => venue === "raydium_cpmm" && quoteMint === SOL_MINT,
  )!;
  const client = await service.newClient(10);
  const account = associatedTokenAddress(Address.of(`${client.wallet.publicKey}`), mint, TOKEN_PROGRAM);
  const order = { mint: `${mint}`, slippage: 0.2, priority: "fast" } as const;
  await client.buy({ ...order, solAmount: 0.01 });

  const failure = (await sellAll(client, order, account).catch((error: unknown) => error)) as TradeError;
  expect(failure).toMatchObject({ code: "PROGRAM_ERROR", safeToRebuild: true });
  expect(failure.message).toContain("was to close");

  const sold = await sellAll(client, order, account);
  expect(sold).toMatchObject({ status: "confirmed", costs: { rentReturned: "0" } });
  expect(await held(account)).toBe(1n);
});

/** Sells all that an account holds while somebody sends a unit more into it. */
async function sellAll(
  client: Tradewire,
  order: { readonly mint: string; readonly slippage: number; readonly priority: "fast" },
  account: Address,
) {
  const built = await client.buildSell({ ...order, sellPercent: 100 });
  const signed = await client.sign(built, { maxInputRaw: `${1n << 63n}` });
  const { address, owner, lamports, data } = await read(account);
  writeU64(data, AMOUNT, readU64(data, AMOUNT) + 1n);
  await service.sandbox.setAccounts([{ address, owner, lamports, data }]);
  return client.submit(built.submissionToken, signed);
}

async function held(account: Address): Promise<bigint> {
  return readU64((await read(account)).data, AMOUNT);
}

async function read(address: Address) {
  const { value } = await service.rpc<{ value: { owner: string; lamports: number; data: [string, string] } }>(
    "getAccountInfo",
    [`${address}`, { encoding: "base64", commitment: "processed" }],
  );
  const data = Uint8Array.from(Buffer.from(value.data[0], "base64"));
  return { address, owner: Address.of(value.owner), lamports: BigInt(value.lamports), data };
}
