import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GenesisAccount } from "../../../src/sandbox/chain/genesis.ts";
import { createWorld, type World } from "../../../src/sandbox/world/world.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";

/** Rent of the world's accounts, and of a test validator. Lamports per byte, data plus a fixed 128. */
const WORLD_RENT = 5_080n;
const VALIDATOR_RENT = 6_960n;
const RECORD_BYTES = 128n;
const TOKEN_ACCOUNT_BYTES = 165;
/** Where a token account of wrapped SOL states the rent it holds beside its amount. */
const NATIVE_RESERVE_AT = 113;

/** The embedded chain's world as files, and the arguments that make a validator start with it. */
export interface ValidatorWorld {
  readonly world: World;
  readonly arguments: readonly string[];
}

/**
 * Writes the world of a seed as a test validator reads it: programs as ELF files, accounts as JSON with the validator's rent.
 *
 * @param programsDir a folder of real programs that replace the stand-ins
 */
export function writeValidatorWorld(folder: string, programsDir?: string): ValidatorWorld {
  const world = createWorld({
    seed: 1,
    slot: 0n,
    unixTimestamp: BigInt(Math.floor(Date.now() / 1_000)),
    ...(programsDir === undefined ? {} : { programsDir }),
  });
  const accounts = join(folder, "accounts");
  mkdirSync(accounts, { recursive: true });
  for (const account of world.accounts) {
    if (account.address === SOL_MINT) continue;
    writeFileSync(join(accounts, `${account.address}.json`), formatAccount(withValidatorRent(account)));
  }
  const programs = world.programs.flatMap(({ id, name, bytes }) => {
    const file = join(folder, `${name}.so`);
    writeFileSync(file, bytes);
    return ["--bpf-program", id.toString(), file];
  });
  return { world, arguments: ["--account-dir", accounts, ...programs] };
}

function withValidatorRent(account: GenesisAccount): GenesisAccount {
  const size = RECORD_BYTES + BigInt(account.data.length);
  const lamports = account.lamports + size * (VALIDATOR_RENT - WORLD_RENT);
  if (account.owner !== TOKEN_PROGRAM || account.data.length !== TOKEN_ACCOUNT_BYTES) return { ...account, lamports };
  const data = Buffer.from(account.data);
  const isNative = data.readUInt32LE(NATIVE_RESERVE_AT - 4) === 1;
  if (isNative) data.writeBigUInt64LE(size * VALIDATOR_RENT, NATIVE_RESERVE_AT);
  return { ...account, lamports, data };
}

/** JSON by hand: lamports exceed what a number holds. */
function formatAccount({ address, owner, lamports, data }: GenesisAccount): string {
  const encoded = Buffer.from(data).toString("base64");
  return `{"pubkey":"${address}","account":{"lamports":${lamports},"data":["${encoded}","base64"],"owner":"${owner}","executable":false,"rentEpoch":18446744073709551615,"space":${data.length}}}`;
}
