import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import type { DeployedProgram } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { ReadOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { asAccount, asContext, asListOf } from "../rpc/rpc-values.ts";
import { CODE_HEADER_BYTES, deploymentOf, deploymentSaidMost, deploySlotOf } from "./deployment.ts";

/** Below the cap of an answer, and small enough not to delay other answers. Bytes. */
const SLICE_BYTES = 512 * 1024;
const MAX_CODE_BYTES = 10 * 1024 * 1024 + CODE_HEADER_BYTES;
const MAX_PER_CALL = 100;
const NO_DATA = new Uint8Array(0);
const WHAT = "a program";

interface ProgramReaderOptions {
  readonly pool: RpcPool;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
  /** False for a slot that the chain cannot have reached. */
  readonly isCredible?: (slot: bigint) => boolean;
  /** Commitment at which deployments are followed. */
  readonly commitment: "processed" | "confirmed";
}

/** One node's view of deployments since they were last read. */
interface DeploymentNews {
  /** Slot of the state that it answered from. */
  readonly at: bigint;
  /** Their current deploy slots, in order; undefined if one is gone. */
  readonly slots: readonly (bigint | undefined)[];
  /** Programs that were absent and are there now. */
  readonly appeared: readonly Address[];
}

/** One node's view of a deployment. */
export interface DeployVote {
  readonly endpoint: RpcEndpoint;
  readonly isTrusted: boolean;
  /** Slot of the state that it answered from. */
  readonly at: bigint;
  /** Slot of the deployment; undefined if it shows none. */
  readonly slot: bigint | undefined;
}

/** Reads which build of a program is deployed, and its bytes. */
export interface ProgramReader {
  /** False with one node, which has nobody to agree with. */
  readonly canVote: boolean;
  /**
   * The deployments of programs, in order, as most nodes report them; null if there is none or its loader is unknown.
   * @throws TradewireError UPSTREAM_ERROR if no node answers
   */
  fetchDeployments(ids: readonly Address[]): Promise<readonly (DeployedProgram | null)[]>;
  /**
   * One node's view of known deployments, and which of the absent programs exist now by its word.
   * @param startAt index of the node asked first, wrapped
   * @throws TradewireError UPSTREAM_ERROR
   */
  fetchNews(
    deployments: readonly DeployedProgram[],
    absent: readonly Address[],
    startAt: number,
  ): Promise<DeploymentNews>;
  /** Each node's view of a deployment; nodes that do not answer are left out. Undefined with one node. */
  fetchDeployVotes(deployment: DeployedProgram): Promise<readonly DeployVote[] | undefined>;
  /**
   * The bytes of a deployment, read in slices; undefined if it was replaced meanwhile, or some node says so. With two nodes or more that
   * answer, the bytes of two must be the same, and a third settles it if they are not: these bytes decide about every quote of a venue.
   * @throws TradewireError UPSTREAM_ERROR, also if nodes disagree and no two have the same
   */
  fetchCode(deployment: DeployedProgram): Promise<Uint8Array | undefined>;
}

/** Reads programs by getMultipleAccounts, and by slices of their code. */
export function createProgramReader(options: ProgramReaderOptions): ProgramReader {
  return new RpcProgramReader(options);
}

class RpcProgramReader implements ProgramReader {
  readonly #options: ProgramReaderOptions;

  constructor(options: ProgramReaderOptions) {
    this.#options = options;
  }

  get canVote(): boolean {
    return this.#options.pool.endpoints.length > 1;
  }

  async fetchDeployments(ids: readonly Address[]): Promise<readonly (DeployedProgram | null)[]> {
    const { pool, trusted } = this.#options;
    const settled = await Promise.allSettled(pool.endpoints.map((endpoint) => this.#readDeployments(ids, endpoint)));
    const said = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (said.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
    const byTrusted = settled[pool.endpoints.indexOf(trusted!)];
    if (byTrusted?.status === "fulfilled") return byTrusted.value;
    return ids.map((_, i) => deploymentSaidMost(said.map((deployments) => deployments[i] ?? null)));
  }

  /** The deployments as one endpoint has them. */
  async #readDeployments(ids: readonly Address[], endpoint: RpcEndpoint): Promise<readonly (DeployedProgram | null)[]> {
    const accounts = await this.#readHeaders(ids, { only: endpoint });
    const found = ids.map((id) => deploymentOf(id, accounts.headers.get(id) ?? null));
    const codes = found.flatMap((one) => (one?.isUpgradeable ? [one.codeAddress] : []));
    const { headers } = await this.#readHeaders(codes, { only: endpoint });
    return found.map((one) => {
      const slot = one === null ? undefined : slotIn(headers, one);
      return one === null || slot === undefined ? null : { ...one, slot };
    });
  }

  async fetchNews(
    deployments: readonly DeployedProgram[],
    absent: readonly Address[],
    startAt: number,
  ): Promise<DeploymentNews> {
    const upgradeable = deployments.filter(({ isUpgradeable }) => isUpgradeable);
    // The header of a code account is longer than the account that points to it.
    const addresses = [...upgradeable.map(({ codeAddress }) => codeAddress), ...absent];
    const { at, headers } = await this.#readHeaders(addresses, { startAt });
    return {
      at,
      slots: deployments.map((deployment) => slotIn(headers, deployment)),
      appeared: absent.filter((id) => deploymentOf(id, headers.get(id) ?? null) !== null),
    };
  }

  /** The beginnings of accounts, and the oldest slot that they were read at. */
  async #readHeaders(addresses: readonly Address[], options: ReadOptions) {
    const headers = new Map<Address, Account | null>();
    let at: bigint | undefined;
    for (let from = 0; from < addresses.length; from += MAX_PER_CALL) {
      const chunk = addresses.slice(from, from + MAX_PER_CALL);
      const { slot, accounts } = await this.#readSlices(chunk, 0, CODE_HEADER_BYTES, options);
      for (const [i, address] of chunk.entries()) headers.set(address, accounts[i] ?? null);
      at = at === undefined || slot < at ? slot : at;
    }
    return { at: at ?? 0n, headers };
  }

  async fetchDeployVotes({ codeAddress }: DeployedProgram): Promise<readonly DeployVote[] | undefined> {
    const { pool, trusted } = this.#options;
    if (!this.canVote) return undefined;
    const asked = pool.endpoints.map(async (endpoint) => {
      const { slot, accounts } = await this.#readSlices([codeAddress], 0, CODE_HEADER_BYTES, { only: endpoint });
      const isTrusted = endpoint === trusted;
      return { endpoint, isTrusted, at: slot, slot: deploySlotOf(accounts[0]?.data ?? NO_DATA) };
    });
    return (await Promise.allSettled(asked)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async fetchCode(deployment: DeployedProgram): Promise<Uint8Array | undefined> {
    const { pool, trusted } = this.#options;
    const found: Uint8Array[] = [];
    let others = 0;
    let failure: unknown;
    for (const endpoint of pool.endpoints) {
      try {
        const code = await this.#readCode(deployment, endpoint);
        if (code !== undefined && (endpoint === trusted || found.some((other) => isSame(other, code)))) return code;
        if (code === undefined) others += 1;
        else found.push(code);
      } catch (error) {
        failure = error;
      }
    }
    if (found.length > 1)
      throw new NodeError("malformed", `Solana nodes disagree on the code of ${deployment.id}: no build of it is run.`);
    if (found.length + others === 0) throw failure;
    // A node that shows another deployment lags or lies; one other node's word is not enough against it.
    return others === 0 ? found[0] : undefined;
  }

  /** The code by one endpoint's word; undefined if it shows another deployment, or none. */
  async #readCode(deployment: DeployedProgram, only: RpcEndpoint): Promise<Uint8Array | undefined> {
    const { codeAddress, isUpgradeable, slot } = deployment;
    const slices: Uint8Array[] = [];
    for (let offset = 0; offset < MAX_CODE_BYTES; offset += SLICE_BYTES) {
      const [account] = (await this.#readSlices([codeAddress], offset, SLICE_BYTES, { only })).accounts;
      if (account === null || account === undefined) return undefined;
      slices.push(account.data);
      if (account.data.length < SLICE_BYTES) break;
    }
    // A replacement between two slices would mix two builds.
    if (isUpgradeable) {
      const [header] = (await this.#readSlices([codeAddress], 0, CODE_HEADER_BYTES, { only })).accounts;
      if (deploySlotOf(header?.data ?? NO_DATA) !== slot) return undefined;
    }
    const whole = Buffer.concat(slices);
    return isUpgradeable ? whole.subarray(CODE_HEADER_BYTES) : whole;
  }

  async #readSlices(
    addresses: readonly Address[],
    offset: number,
    length: number,
    options: ReadOptions,
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly (Account | null)[] }> {
    const { pool, commitment, isCredible } = this.#options;
    const config = { encoding: "base64", commitment, dataSlice: { offset, length } };
    const decode = (answer: unknown) => {
      const { slot, value } = asContext(answer, WHAT);
      const values = asListOf(addresses.length, value, WHAT);
      const accounts = addresses.map((address, i) => asAccount(address, values[i], slot));
      return { slot, accounts };
    };
    const isHeader = length === CODE_HEADER_BYTES;
    const isWrong = (answer: unknown): boolean =>
      isCredible?.(asContext(answer, WHAT).slot) === false || (isHeader && isAhead(decode(answer)));
    const result = await pool.read("getMultipleAccounts", [addresses.map(String), config], { ...options, isWrong });
    const read = decode(result);
    if (read.accounts.some((account) => account !== null && account.data.length > length))
      throw new NodeError("malformed", "A Solana node ignored the slice of an account it was asked for.");
    if (isHeader && isAhead(read))
      throw new NodeError("malformed", "A Solana node shows a program deployed later than the state it answers from.");
    return read;
  }
}

/** True if a header names a deployment later than the state it was read from, which no chain has. */
function isAhead({
  slot,
  accounts,
}: {
  readonly slot: bigint;
  readonly accounts: readonly (Account | null)[];
}): boolean {
  return accounts.some((account) => (deploySlotOf(account?.data ?? NO_DATA) ?? 0n) > slot);
}

/** The slot of a known deployment; undefined if its code is gone. */
function slotIn(
  headers: ReadonlyMap<Address, Account | null>,
  { isUpgradeable, codeAddress }: DeployedProgram,
): bigint | undefined {
  return isUpgradeable ? deploySlotOf(headers.get(codeAddress)?.data ?? NO_DATA) : 0n;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
