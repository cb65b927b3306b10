import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Address } from "../../src/primitives/address.ts";
import { binaryPath } from "../../src/sandbox/programs/manifest.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { eventually } from "../support/eventually.ts";
import { type LyingProgramStream, startLyingProgramStream } from "../support/lying-program-stream.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { startTestService, type TestService } from "../support/service.ts";

let sandbox: PacedSandbox;
let stream: LyingProgramStream;
let service: TestService;
let apiKey: string;
const logged: string[] = [];

/** Two nodes say the truth, and the only WebSocket of either lies. */
beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 50 });
  stream = await startLyingProgramStream(sandbox.wsUrl);
  const log = (_: object, message: string) => void logged.push(message);
  const { port } = new URL(sandbox.rpcUrl);
  const environment = {
    SOLANA_RPC_URLS: `http://127.0.0.1:${port},http://localhost:${port}`,
    SOLANA_WS_URLS: `${stream.wsUrl},${stream.wsUrl}`,
    SHADOW_EXECUTION: "guard",
  };
  service = await startTestService(environment, { logger: { info: log, warn: log, error: log } });
  apiKey = (await service.newClient(0)).apiKey!;
});
afterAll(async () => {
  await service?.close();
  stream?.close();
  await sandbox?.close();
});

/** What says that a busy machine was late, not that anything is withheld. */
const OF_A_BUSY_MACHINE = /is \d+ ms old/;

/** A quote of the venue's first token for SOL, on a market that was checked: its venue, or why there is none. */
async function quoteChecked(venue: string) {
  const token = sandbox.world.tokens.find((one) => one.venue === venue && one.quoteMint === SOL_MINT)!;
  const order = { inputMint: "SOL", outputMint: `${token.mint}`, amount: 0.01, swapMode: "exactIn", slippage: 0.01 };
  return eventually(async () => {
    const { status, body } = await service.call("/v1/tx/quote", { ...order, requireChecked: true }, apiKey);
    if (body.error?.code !== "STATE_STALE") return [status, body.data?.platform ?? body.error?.code];
    if (OF_A_BUSY_MACHINE.test(body.error.message)) throw new Error(body.error.message);
    return [status, body.error.message];
  });
}

const replacements = async () =>
  Number(
    /^tradewire_shadow_replacements_total (.*)$/m.exec(
      await (await fetch(`${service.app.admin!.url}/metrics`)).text(),
    )![1],
  );

test("a stream that reports another build in every slot is outvoted by two nodes, and a true upgrade still counts", async () => {
  const id = sandbox.world.programs.find(({ name }) => name === "raydium_cpmm")!.id;
  const code = Address.from(Buffer.from((await accountData(id))!, "base64").subarray(4, 36));
  for (const venue of ["raydium_cpmm", "pump_swap"])
    await eventually(async () => expect(await quoteChecked(venue)).toEqual([200, venue]));

  stream.lieAbout(code.toString());
  await eventually(() => expect(logged.filter((line) => /two nodes say/.test(line))).toHaveLength(1));
  expect(logged.join("\n")).toMatch(
    new RegExp(`reports that program ${id} was deployed at slot \\d+, two nodes say \\d+`),
  );
  await eventually(async () => expect(await quoteChecked("raydium_cpmm")).toEqual([200, "raydium_cpmm"]));
  // The lie and its end; from here on it withholds nothing, however often it comes.
  const settled = await replacements();
  const lies = stream.lies();
  while (stream.lies() < lies + 20) {
    await sandbox.passSlots(1);
    for (const venue of ["raydium_cpmm", "pump_swap"]) expect(await quoteChecked(venue)).toEqual([200, venue]);
  }
  expect(await replacements()).toBe(settled);

  await sandbox.setProgram(id, readFileSync(new URL("../fixtures/programs/cpmm_more_accounts.so", import.meta.url)));
  await eventually(async () => expect(await quoteChecked("raydium_cpmm")).toEqual([503, "VENUE_DEGRADED"]));
  await sandbox.setProgram(id, readFileSync(binaryPath("raydium_cpmm")));
  await eventually(async () => expect(await quoteChecked("raydium_cpmm")).toEqual([200, "raydium_cpmm"]));
  expect(await quoteChecked("pump_swap")).toEqual([200, "pump_swap"]);
});

async function accountData(address: Address): Promise<string | undefined> {
  const response = await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [`${address}`, { encoding: "base64" }],
    }),
  });
  const { result } = (await response.json()) as { result: { value: { data: [string] } | null } };
  return result.value?.data[0];
}
