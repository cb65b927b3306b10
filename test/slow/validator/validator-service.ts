import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import type { Environment } from "../../../src/config/config.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { lookupTablesOf } from "../../support/world.ts";
import { JudgeLedger } from "./ledger.ts";
import { findValidator, startValidator, type Validator } from "./validator.ts";
import { type ValidatorWorld, writeValidatorWorld } from "./validator-world.ts";

const SOL = 50;

interface ValidatorOptions {
  /** Further arguments of the validator. */
  readonly arguments?: readonly string[];
  /** A folder of real programs that replace the stand-ins. */
  readonly programsDir?: string;
}

type ServiceOptions = NonNullable<Parameters<typeof startTestService>[1]>;

/** A validator with the embedded chain's world, and services on it: what a test starts, `close` ends. */
export class ValidatorBench {
  readonly validator: Validator;
  readonly made: ValidatorWorld;
  /** Asks the validator itself, whatever stands between it and the service. */
  readonly ledger: JudgeLedger;
  readonly #folder: string;
  readonly #services: TestService[] = [];

  private constructor(validator: Validator, made: ValidatorWorld, folder: string) {
    this.validator = validator;
    this.made = made;
    this.ledger = new JudgeLedger(validator.rpcUrl);
    this.#folder = folder;
  }

  static async start(options: ValidatorOptions = {}): Promise<ValidatorBench> {
    const folder = mkdtempSync(join(tmpdir(), "tradewire-validator-"));
    try {
      const made = writeValidatorWorld(folder, options.programsDir);
      const more = [...made.arguments, ...(options.arguments ?? [])];
      return new ValidatorBench(await startValidator(findValidator()!, folder, more), made, folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Starts the service on the validator, or on what the environment names. */
  async startService(environment: Environment = {}, options: ServiceOptions = {}): Promise<TestService> {
    const { rpcUrl, wsUrl } = this.validator;
    const service = await startTestService(
      {
        SOLANA_RPC_URL: rpcUrl,
        SOLANA_WS_URL: wsUrl,
        LOOKUP_TABLES: this.made.world.lookupTables.join(","),
        BUILD_PER_SECOND: "1000",
        SUBMIT_PER_SECOND: "1000",
        ADDRESS_OPEN_PER_SECOND: "1000",
        ...environment,
      },
      options,
    );
    this.#services.push(service);
    return service;
  }

  /** Stops one service, as a supervisor does. */
  async stopService(service: TestService): Promise<void> {
    this.#services.splice(this.#services.indexOf(service), 1);
    await service.close();
  }

  /** A registered wallet with SOL that the ledger shows, which verifies what it signs. */
  async newClient(service: TestService): Promise<Tradewire> {
    const { tokens } = this.made.world;
    const client = await service.newClient(0, {
      decimals: Object.fromEntries(tokens.map(({ mint, decimals }) => [mint.toString(), decimals])),
      lookupTables: lookupTablesOf(this.made.world),
    });
    const address = client.wallet.publicKey.toString();
    await this.ledger.call("requestAirdrop", [address, SOL * 1e9]);
    await eventually(async () => {
      if ((await this.ledger.lamports(address)) === 0n) throw new Error("the airdrop has not landed");
    });
    return client;
  }

  /** Mint of a token of the world, by its symbol. */
  mintOf(symbol: string): string {
    return this.made.world.tokens.find((token) => token.symbol === symbol)!.mint.toString();
  }

  async close(): Promise<void> {
    for (const service of this.#services.splice(0)) await service.close();
    await this.validator.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
