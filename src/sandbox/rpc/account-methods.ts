import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { decodeMint, isMint } from "../../solana/token/mint.ts";
import { decodeTokenAccount, isTokenAccount } from "../../solana/token/token-account.ts";
import type { Chain } from "../chain/chain.ts";
import type { Commitment } from "../chain/ledger.ts";
import { parseAccountFilter } from "./account-filter.ts";
import { type AccountFormat, encodeAccount, encodeTokenAmount, parseAccountFormat } from "./encode-account.ts";
import type { Method } from "./method.ts";
import { type Params, parseAddressParam, parseAddressParams, parseContext, type RpcConfig } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

const MAX_ACCOUNTS = 100;
const MAX_SPACE = 10 * 1024 * 1024;

/** Methods that read accounts. */
export const ACCOUNT_METHODS: Readonly<Record<string, Method>> = {
  getAccountInfo: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const reads = new Reads(chain, params.parseConfig(1));
    return reads.answer(reads.encode(reads.account(address)));
  },
  getMultipleAccounts: ({ chain }, params) => {
    const addresses = parseAddressParams(params.at(0), MAX_ACCOUNTS);
    const reads = new Reads(chain, params.parseConfig(1));
    return reads.answer(addresses.map((address) => reads.encode(reads.account(address))));
  },
  getBalance: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const reads = new Reads(chain, params.parseConfig(1));
    return reads.answer(reads.account(address)?.lamports ?? 0n);
  },
  getProgramAccounts: ({ chain }, params) => {
    const program = params.parseAddressParam(0);
    const config = params.parseConfig(1);
    const holds = parseAccountFilter(config.filters);
    const reads = new Reads(chain, config);
    const found = reads.keyed(reads.programAccounts(program).filter(holds));
    return config.withContext === true ? reads.answer(found) : found;
  },
  getTokenAccountsByOwner: ({ chain }, params) => findTokenAccounts(chain, params, 32),
  getTokenAccountsByDelegate: ({ chain }, params) => findTokenAccounts(chain, params, 76),
  getTokenAccountBalance: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const reads = new Reads(chain, params.parseConfig(1));
    const account = reads.account(address);
    if (account === null) throw invalidParams("Invalid param: could not find account");
    if (!isTokenAccount(account)) throw invalidParams("Invalid param: not a Token account");
    const { mint, amount } = decodeTokenAccount(account);
    return reads.answer(encodeTokenAmount(amount, reads.mint(mint).decimals));
  },
  getTokenSupply: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const reads = new Reads(chain, params.parseConfig(1));
    const { supply, decimals } = reads.mint(address);
    return reads.answer(encodeTokenAmount(supply, decimals));
  },
  getTokenLargestAccounts: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const reads = new Reads(chain, params.parseConfig(1));
    const { decimals, program } = reads.mint(address);
    const largest = reads
      .programAccounts(program)
      .filter((account) => isTokenAccount(account) && decodeTokenAccount(account).mint === address)
      .map((account) => ({ account, amount: decodeTokenAccount(account).amount }))
      .sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
      .slice(0, 20);
    return reads.answer(
      largest.map(({ account, amount }) => ({
        address: account.address.toString(),
        ...encodeTokenAmount(amount, decimals),
      })),
    );
  },
  getMinimumBalanceForRentExemption: ({ chain }, params) => {
    const space = params.parseInteger(0, "data length");
    if (space > MAX_SPACE) throw invalidParams(`Invalid params: data length must be at most ${MAX_SPACE}`);
    return chain.bank.rentExemption(space);
  },
};

/** The accounts as one call sees them: all at one commitment, all written in one format. */
class Reads {
  readonly #chain: Chain;
  readonly #commitment: Commitment;
  readonly #format: AccountFormat;

  /** @throws RpcError when the configuration is wrong or its `minContextSlot` is not reached */
  constructor(chain: Chain, config: RpcConfig) {
    this.#chain = chain;
    this.#commitment = parseContext(chain, config);
    this.#format = parseAccountFormat(config);
  }

  account(address: Address): Account | null {
    return this.#chain.account(address, this.#commitment);
  }

  programAccounts(program: Address): Account[] {
    return this.#chain.programAccounts(program, this.#commitment);
  }

  mint(address: Address) {
    const account = this.account(address);
    if (account === null) throw invalidParams("Invalid param: could not find mint");
    if (!isMint(account)) throw invalidParams("Invalid param: not a Token mint");
    return decodeMint(account);
  }

  encode(account: Account | null) {
    return account === null ? null : encodeAccount(account, this.#format, (mint) => this.account(mint));
  }

  keyed(accounts: readonly Account[]) {
    return accounts.map((account) => ({ pubkey: account.address.toString(), account: this.encode(account) }));
  }

  answer<T>(value: T) {
    return { context: { slot: this.#chain.ledger.slot(this.#commitment), apiVersion: "4.2.0" }, value };
  }
}

/** Token accounts that hold `address` at `offset`, of one mint or one token program. */
function findTokenAccounts(chain: Chain, params: Params, offset: 32 | 76) {
  const holder = params.parseAddressParam(0);
  const which = params.parseConfig(1);
  const mint = which.mint === undefined ? undefined : parseAddressParam(which.mint);
  const reads = new Reads(chain, params.parseConfig(2));
  const program = mint === undefined ? parseAddressParam(which.programId) : reads.mint(mint).program;
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) {
    throw invalidParams("Invalid param: unrecognized Token program id");
  }
  const found = reads.programAccounts(program).filter((account) => {
    if (!isTokenAccount(account) || !holder.bytes.every((byte, i) => account.data[offset + i] === byte)) return false;
    if (offset === 76 && account.data[72] !== 1) return false;
    return mint === undefined || decodeTokenAccount(account).mint === mint;
  });
  return reads.answer(reads.keyed(found));
}
