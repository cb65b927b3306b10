import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { LEGACY_LOADER, UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import type { AccountReader, DeployedProgram } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asAccount, asContext, asList } from "../rpc/rpc-values.ts";

/** The account of a program's code begins with its kind, the slot of the deployment and who may replace it. */
export const CODE_HEADER_BYTES = 45;
const POINTER_BYTES = 36;
const SLOT_OFFSET = 4;
const POINTER_OFFSET = 4;
const KIND_POINTER = 2;
const KIND_CODE = 3;
/** Below the cap of an answer, and small enough that others' answers are not held up. */
const SLICE_BYTES = 512 * 1024;
const MAX_CODE_BYTES = 10 * 1024 * 1024 + CODE_HEADER_BYTES;
const MAX_PER_CALL = 100;
const NO_DATA = new Uint8Array(0);
const WHAT = "a program";

interface ProgramReaderOptions {
  readonly pool: RpcPool;
  readonly reader: Pick<AccountReader, "fetchAccounts">;
  /** Commitment at which deployments are followed. */
  readonly commitment: "processed" | "confirmed";
}

/** What has come of deployments since they were read. */
interface DeploymentNews {
  /** The slots that they have now, in order; undefined if one is gone. */
  readonly slots: readonly (bigint | undefined)[];
  /** Programs that were absent and are there now. */
  readonly appeared: readonly Address[];
}

/** What one node says of a deployment. */
export interface DeployVote {
  /** Slot of the state that it answered from. */
  readonly at: bigint;
  /** Slot of the deployment; undefined if it shows none. */
  readonly slot: bigint | undefined;
}

/** Reads which build of a program is deployed, and its bytes. */
export interface ProgramReader {
  /** The deployments of programs, in order; null if there is none or its loader is unknown. @throws TradewireError UPSTREAM_ERROR */
  fetchDeployments(ids: readonly Address[]): Promise<readonly (DeployedProgram | null)[]>;
  /** The slots that known deployments have now, in order; undefined if one is gone. @throws TradewireError UPSTREAM_ERROR */
  fetchDeploySlots(deployments: readonly DeployedProgram[]): Promise<readonly (bigint | undefined)[]>;
  /** The same, and in the same calls which of the absent programs are there now. @throws TradewireError UPSTREAM_ERROR */
  fetchNews(deployments: readonly DeployedProgram[], absent: readonly Address[]): Promise<DeploymentNews>;
  /** What each node says of a deployment; nodes that do not answer are left out. Undefined with one node, which has nobody to agree with. */
  fetchDeployVotes(deployment: DeployedProgram): Promise<readonly DeployVote[] | undefined>;
  /**
   * The bytes of a deployment, read in slices; undefined if it was replaced meanwhile. With two nodes or more, the bytes of two
   * must be the same, and a third settles it if they are not: what runs decides over every quote of a venue.
   * @throws TradewireError UPSTREAM_ERROR, also if nodes disagree and no two have the same
   */
  fetchCode(deployment: DeployedProgram): Promise<Uint8Array | undefined>;
}

/** Reads programs by getMultipleAccounts, and by slices of their code. */
export function createProgramReader(options: ProgramReaderOptions): ProgramReader {
  return new RpcProgramReader(options);
}

/** Slot in the header of a code account; undefined if it is none. */
export function deploySlotOf(data: Uint8Array): bigint | undefined {
  if (data.length < SLOT_OFFSET + 8 || viewOf(data).getUint32(0, true) !== KIND_CODE) return undefined;
  return readU64(data, SLOT_OFFSET);
}

class RpcProgramReader implements ProgramReader {
  readonly #options: ProgramReaderOptions;

  constructor(options: ProgramReaderOptions) {
    this.#options = options;
  }

  async fetchDeployments(ids: readonly Address[]): Promise<readonly (DeployedProgram | null)[]> {
    const { accounts } = await this.#options.reader.fetchAccounts(ids);
    const found = ids.map((id, i) => deploymentOf(id, accounts[i] ?? null));
    const slots = await this.fetchDeploySlots(found.filter((one) => one !== null));
    let next = 0;
    return found.map((one) => {
      if (one === null) return null;
      const slot = slots[next++];
      return slot === undefined ? null : { ...one, slot };
    });
  }

  async fetchDeploySlots(deployments: readonly DeployedProgram[]): Promise<readonly (bigint | undefined)[]> {
    return (await this.fetchNews(deployments, [])).slots;
  }

  async fetchNews(deployments: readonly DeployedProgram[], absent: readonly Address[]): Promise<DeploymentNews> {
    const upgradeable = deployments.filter(({ isUpgradeable }) => isUpgradeable);
    // The header of a code account is longer than the account that points to it.
    const addresses = [...upgradeable.map(({ codeAddress }) => codeAddress), ...absent];
    const headers = new Map<Address, Account | null>();
    for (let at = 0; at < addresses.length; at += MAX_PER_CALL) {
      const chunk = addresses.slice(at, at + MAX_PER_CALL);
      const accounts = await this.#fetchSlices(chunk, 0, CODE_HEADER_BYTES);
      for (const [i, address] of chunk.entries()) headers.set(address, accounts[i] ?? null);
    }
    return {
      slots: deployments.map(({ isUpgradeable, codeAddress }) =>
        isUpgradeable ? deploySlotOf(headers.get(codeAddress)?.data ?? NO_DATA) : 0n,
      ),
      appeared: absent.filter((id) => deploymentOf(id, headers.get(id) ?? null) !== null),
    };
  }

  async fetchDeployVotes({ codeAddress }: DeployedProgram): Promise<readonly DeployVote[] | undefined> {
    const { endpoints } = this.#options.pool;
    if (endpoints.length < 2) return undefined;
    const asked = endpoints.map(async (endpoint) => {
      const { slot, accounts } = await this.#readSlices([codeAddress], 0, CODE_HEADER_BYTES, endpoint);
      return { at: slot, slot: deploySlotOf(accounts[0]?.data ?? NO_DATA) };
    });
    return (await Promise.allSettled(asked)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async fetchCode(deployment: DeployedProgram): Promise<Uint8Array | undefined> {
    const { endpoints } = this.#options.pool;
    if (endpoints.length < 2) return this.#readCode(deployment, undefined);
    const found: Uint8Array[] = [];
    let failure: unknown;
    for (const endpoint of endpoints) {
      try {
        // A node that lags shows another deployment, and says nothing about this one.
        const code = await this.#readCode(deployment, endpoint);
        if (code === undefined) continue;
        if (found.some((other) => isSame(other, code))) return code;
        found.push(code);
      } catch (error) {
        failure = error;
      }
    }
    if (found.length > 1)
      throw new NodeError("malformed", `Solana nodes disagree on the code of ${deployment.id}: no build of it is run.`);
    if (found.length === 0 && failure !== undefined) throw failure;
    return found[0];
  }

  /** The code as one endpoint has it, or any of the pool. */
  async #readCode(deployment: DeployedProgram, only: RpcEndpoint | undefined): Promise<Uint8Array | undefined> {
    const { codeAddress, isUpgradeable, slot } = deployment;
    const slices: Uint8Array[] = [];
    for (let offset = 0; offset < MAX_CODE_BYTES; offset += SLICE_BYTES) {
      const [account] = await this.#fetchSlices([codeAddress], offset, SLICE_BYTES, only);
      if (account === null || account === undefined) return undefined;
      slices.push(account.data);
      if (account.data.length < SLICE_BYTES) break;
    }
    // A replacement between two slices would mix two builds.
    if (isUpgradeable) {
      const [header] = await this.#fetchSlices([codeAddress], 0, CODE_HEADER_BYTES, only);
      if (deploySlotOf(header?.data ?? NO_DATA) !== slot) return undefined;
    }
    const whole = Buffer.concat(slices);
    return isUpgradeable ? whole.subarray(CODE_HEADER_BYTES) : whole;
  }

  async #fetchSlices(
    addresses: readonly Address[],
    offset: number,
    length: number,
    only?: RpcEndpoint,
  ): Promise<readonly (Account | null)[]> {
    return (await this.#readSlices(addresses, offset, length, only)).accounts;
  }

  async #readSlices(
    addresses: readonly Address[],
    offset: number,
    length: number,
    only?: RpcEndpoint,
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly (Account | null)[] }> {
    const { pool, commitment } = this.#options;
    const config = { encoding: "base64", commitment, dataSlice: { offset, length } };
    const result = await pool.read("getMultipleAccounts", [addresses.map(String), config], { only });
    const { slot, value } = asContext(result, WHAT);
    const values = asList(value, WHAT);
    const accounts = addresses.map((address, i) => {
      const account = asAccount(address, values[i] ?? null, slot);
      if (account !== null && account.data.length > length)
        throw new NodeError("malformed", "A Solana node ignored the slice of an account it was asked for.");
      return account;
    });
    return { slot, accounts };
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** The deployment a program account shows; its slot is still to be read. */
function deploymentOf(id: Address, account: Account | null): DeployedProgram | null {
  if (account === null || !account.executable) return null;
  if (account.owner === LEGACY_LOADER) return { id, isUpgradeable: false, codeAddress: id, slot: 0n };
  const { data, owner } = account;
  if (owner !== UPGRADEABLE_LOADER || data.length < POINTER_BYTES) return null;
  if (viewOf(data).getUint32(0, true) !== KIND_POINTER) return null;
  return { id, isUpgradeable: true, codeAddress: Address.from(data, POINTER_OFFSET), slot: 0n };
}
