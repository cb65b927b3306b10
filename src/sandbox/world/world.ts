import type { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { CPMM_PROGRAM } from "./cpmm.ts";
import { createWorldLedger, type WorldAccount } from "./genesis-ledger.ts";
import { putLookupTable } from "./lookup-table.ts";
import { readWorldPrograms, type WorldProgram } from "./programs.ts";
import { putCurveTokens } from "./tokens/curve-tokens.ts";
import { putLaunchTokens } from "./tokens/launch-tokens.ts";
import { putPoolTokens } from "./tokens/pool-tokens.ts";
import { putPumpPoolTokens } from "./tokens/pump-pool-tokens.ts";
import { newAddress, type WorldToken } from "./tokens/token.ts";

/** Everything an embedded chain starts from. */
export interface World {
  readonly programs: readonly WorldProgram[];
  readonly accounts: readonly WorldAccount[];
  readonly tokens: readonly WorldToken[];
  /** Address lookup tables of programs, markets and fee recipients: without them some trades do not fit. */
  readonly lookupTables: readonly Address[];
}

interface WorldOptions {
  /** Any whole number; the same seed gives the same world. */
  readonly seed: number;
  /** The chain's first moment, in seconds since 1970. */
  readonly unixTimestamp: bigint;
  /** The chain's first slot. */
  readonly slot: bigint;
  /** A folder whose `<name>.so` files replace the stand-in programs. */
  readonly programsDir?: string;
}

/** Markets opened this long before the chain's first moment. */
const SECONDS_OPEN = 86_400n;
const SLOTS_PER_EPOCH = 432_000n;

/**
 * Generates the world of an embedded chain from a seed: programs, every account they need, and the tokens that trade. Each
 * supply equals the sum of its balances, and every account holds its rent.
 *
 * With `programsDir` the real Raydium program may replace its stand-in. Its public builds lack creator fees, so no pool has
 * any then.
 *
 * @throws Error when a program's binary cannot be read
 */
export function createWorld(options: WorldOptions): World {
  const ledger = createWorldLedger();
  const age = { openTime: options.unixTimestamp - SECONDS_OPEN, epoch: options.slot / SLOTS_PER_EPOCH };
  const random = createRandom(options.seed);
  const programs = readWorldPrograms(options.programsDir);
  const hasCreatorFees = programs.some(({ id, isStandIn }) => id === CPMM_PROGRAM && isStandIn);
  const tokens = [
    ...putPoolTokens(ledger, random, { ...age, hasCreatorFees }),
    ...putCurveTokens(ledger, random),
    ...putPumpPoolTokens(ledger, random),
    ...putLaunchTokens(ledger, random),
  ];
  const lookupTables = [
    putLookupTable(
      ledger,
      programs.map(({ id }) => id),
      newAddress(random),
    ),
  ];
  return { programs, accounts: ledger.accounts(), tokens, lookupTables };
}
