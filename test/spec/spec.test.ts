import { afterAll, beforeAll, describe } from "vitest";
import { checkAuthentication } from "./authentication.ts";
import { checkBuilding } from "./building.ts";
import { checkErrors } from "./errors.ts";
import { checkFlow } from "./flow.ts";
import { BUY, type Done, type Given, SELL, SWAP } from "./given.ts";
import { checkLifecycle } from "./lifecycle.ts";
import { checkLimits } from "./limits.ts";
import { checkResources } from "./resources.ts";
import { type StartedService, startService } from "./started-service.ts";
import { askChain, Trader } from "./trader.ts";

/**
 * The reference of the service, line by line, over REST alone: `npm start` is run, and what its start page prints is all
 * that is known. These files are written once and not edited: a check that fails means that the interface has changed.
 */
let given: Given;
const started: StartedService[] = [];

/** Times and limits that a test can wait for. */
const SWIFT = {
  SANDBOX_SLOT_MS: "50",
  KEEP_ALIVE_MS: "2000",
  KEEP_ALIVE_HINT_MS: "1000",
  ADDRESS_OPEN_PER_SECOND: "0",
};

function keep(service: StartedService): StartedService {
  started.push(service);
  return service;
}

beforeAll(async () => {
  // Sequential: two starts at once on a busy machine take each other's time.
  const service = keep(await startService());
  const swift = keep(await startService(SWIFT));
  given = await setUp(service, swift);
}, 300_000);
afterAll(async () => {
  for (const service of started) await service.stop();
});

async function setUp(service: StartedService, swift: StartedService): Promise<Given> {
  const trader = Trader.demo(service);
  const mint = service.mints.get("EMBER")!;
  const lamports = async () =>
    (await askChain(service, "getBalance", [trader.address, { commitment: "confirmed" }])).value as number;
  const trade = async (path: string, request: object): Promise<Done> => {
    const lamportsBefore = await lamports();
    const builtAtMs = Date.now();
    const build = await service.post(path, request);
    const answeredAtMs = Date.now();
    const result = await trader.submit(build.body.data);
    const submitMs = Date.now() - answeredAtMs;
    return {
      request,
      build,
      builtAtMs,
      answeredAtMs,
      result,
      submitMs,
      lamportsBefore,
      lamportsAfter: await lamports(),
    };
  };
  const swap = { inputMint: "SOL", outputMint: mint, ...SWAP };
  return {
    service,
    swift,
    trader,
    mint,
    buy: await trade("/v1/tx/buy", { mint, ...BUY }),
    sell: await trade("/v1/tx/sell", { mint, ...SELL }),
    exactIn: await trade("/v1/tx/swap", { ...swap, amount: 0.05, swapMode: "exactIn" }),
    exactOut: await trade("/v1/tx/swap", { ...swap, amount: 2, swapMode: "exactOut" }),
  };
}

describe("1. What the service does", () => checkFlow(() => given));
describe("2. Resources and their fields", () => checkResources(() => given));
describe("3. States and transitions", () => checkLifecycle(() => given));
describe("4. Endpoints", () => checkBuilding(() => given));
describe("5. Authentication", () => checkAuthentication(() => given));
describe("7. Errors", () => checkErrors(() => given));
describe("8. Limits, 9. Versioning", () => checkLimits(() => given));
