import { type Address, compareAddresses } from "../../../../src/primitives/address.ts";
import { concatBytes, hex, writeU32, writeU64 } from "../../../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../../../src/solana/compute-budget.ts";
import { type AccountMeta, readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../../../src/solana/pda.ts";
import { RENT_SYSVAR, SYSTEM_PROGRAM } from "../../../../src/solana/programs.ts";
import {
  arrayIndexOf,
  BIN_SIZE,
  BINS_PER_ARRAY,
  FIRST_BIN_OFFSET,
} from "../../../../src/venues/meteora-dlmm/bin-array.ts";
import {
  binArrayOf,
  bitmapExtensionOf,
  DLMM_EVENT_AUTHORITY,
  DLMM_PROGRAM,
  presetAddress,
} from "../../../../src/venues/meteora-dlmm/layout.ts";
import type { Svm } from "../../../support/svm.ts";

const INITIALIZE_LB_PAIR2 = hex("493b2478ed536cc6");
const INITIALIZE_EXTENSION = hex("2f9de2b40cf02147");
const INITIALIZE_BIN_ARRAY = hex("235613b94ed44bd3");
const INITIALIZE_POSITION2 = hex("8f13f291d50f6873");
const ADD_LIQUIDITY_BY_STRATEGY2 = hex("03dd95da6f8d76d5");
const PLACE_LIMIT_ORDER = hex("6cb021ba92e501c5");
const PRESET_DISCRIMINATOR = hex("abec9473a271deae");

export interface NewDlmmPair {
  readonly binStep: number;
  readonly baseFactor: number;
  readonly baseFeePower?: number;
  readonly variableFeeControl: number;
  readonly maxVolatility: number;
  readonly filterPeriod: number;
  readonly decayPeriod: number;
  readonly reductionFactor: number;
  /** True: limit orders. False: liquidity mining. */
  readonly limitOrders: boolean;
  /** 0 input, 1 only Y. */
  readonly collectFeeMode: number;
  readonly activeId: number;
}

/** A pair with what it takes to work on it. `x` and `y` are its mints. */
export interface DlmmBench {
  readonly svm: Svm;
  readonly wallet: Address;
  readonly pair: Address;
  readonly x: Address;
  readonly y: Address;
  readonly extended: boolean;
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value & 255, (value >> 8) & 255);
const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value >>> 0);
  return bytes;
};
const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, BigInt.asUintN(64, value));
  return bytes;
};

function run(
  { svm, wallet }: Pick<DlmmBench, "svm" | "wallet">,
  what: string,
  data: Uint8Array,
  accounts: AccountMeta[],
) {
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), { program: DLMM_PROGRAM, accounts, data }]);
  if (!done.ok) throw new Error(`${what}: ${done.error.slice(0, 200)}\n${done.logs.join("\n")}`);
}

/** Writes a preset (only the program's operators may make one) and has the program create a pair under it. */
export function createDlmmPair(svm: Svm, wallet: Address, x: Address, y: Address, shape: NewDlmmPair): DlmmBench {
  const preset = presetAddress(7);
  svm.setAccount({
    address: preset,
    owner: DLMM_PROGRAM,
    data: concatBytes(
      PRESET_DISCRIMINATOR,
      u16(shape.binStep),
      u16(shape.baseFactor),
      u16(shape.filterPeriod),
      u16(shape.decayPeriod),
      u32(shape.variableFeeControl),
      u32(shape.maxVolatility),
      u16(shape.reductionFactor),
      u16(500),
      u16(7),
      Uint8Array.of(shape.baseFeePower ?? 0, shape.limitOrders ? 0 : 1, shape.collectFeeMode),
      new Uint8Array(7 + 152),
    ),
  });
  const [first, second] = compareAddresses(x, y) < 0 ? [x, y] : [y, x];
  const pair = derive(DLMM_PROGRAM, preset, first, second);
  const extended = Math.abs(arrayIndexOf(shape.activeId)) > 480;
  run({ svm, wallet }, "pair", concatBytes(INITIALIZE_LB_PAIR2, u32(shape.activeId), new Uint8Array(96)), [
    writable(pair),
    extended ? writable(bitmapExtensionOf(pair).address) : readonly(DLMM_PROGRAM),
    readonly(x),
    readonly(y),
    writable(derive(DLMM_PROGRAM, pair, x)),
    writable(derive(DLMM_PROGRAM, pair, y)),
    writable(derive(DLMM_PROGRAM, "oracle", pair)),
    readonly(preset),
    writableSigner(wallet),
    readonly(DLMM_PROGRAM),
    readonly(DLMM_PROGRAM),
    readonly(svm.get(x)!.owner),
    readonly(svm.get(y)!.owner),
    readonly(SYSTEM_PROGRAM),
    readonly(DLMM_EVENT_AUTHORITY),
    readonly(DLMM_PROGRAM),
  ]);
  const bench = { svm, wallet, pair, x, y, extended };
  if (extended && svm.get(bitmapExtensionOf(pair).address) === null) {
    run(bench, "extension", INITIALIZE_EXTENSION, [
      readonly(pair),
      writable(bitmapExtensionOf(pair).address),
      writableSigner(wallet),
      readonly(SYSTEM_PROGRAM),
      readonly(RENT_SYSVAR),
    ]);
  }
  return bench;
}

/** How a deposit is spread over its bins: evenly, more in the middle, more at the ends. */
export const STRATEGIES = { spot: 6, curve: 7, bidAsk: 8 } as const;

/** Opens a position over at most 70 bins and puts `amountX` and `amountY` into them. */
export function addLiquidity(
  bench: DlmmBench,
  amountX: bigint,
  amountY: bigint,
  bins: { readonly low: number; readonly high: number; readonly activeId: number; readonly strategy: number },
): void {
  const { svm, wallet, pair } = bench;
  const { low, high, activeId, strategy } = bins;
  const position = svm.newAddress();
  run(bench, "position", concatBytes(INITIALIZE_POSITION2, u32(low), u32(high - low + 1)), [
    writableSigner(wallet),
    writableSigner(position),
    readonly(pair),
    writableSigner(wallet),
    readonly(SYSTEM_PROGRAM),
    readonly(DLMM_EVENT_AUTHORITY),
    readonly(DLMM_PROGRAM),
  ]);
  run(
    bench,
    "liquidity",
    concatBytes(
      ADD_LIQUIDITY_BY_STRATEGY2,
      u64(amountX),
      u64(amountY),
      u32(activeId),
      u32(0),
      u32(low),
      u32(high),
      Uint8Array.of(strategy),
      new Uint8Array(64),
      u32(0),
    ),
    [
      writable(position),
      writable(pair),
      extensionMeta(bench),
      writable(tokensOf(bench, bench.x)),
      writable(tokensOf(bench, bench.y)),
      writable(derive(DLMM_PROGRAM, pair, bench.x)),
      writable(derive(DLMM_PROGRAM, pair, bench.y)),
      readonly(bench.x),
      readonly(bench.y),
      writableSigner(wallet),
      readonly(svm.get(bench.x)!.owner),
      readonly(svm.get(bench.y)!.owner),
      readonly(DLMM_EVENT_AUTHORITY),
      readonly(DLMM_PROGRAM),
      ...arraysFor(bench, [low, high]),
    ],
  );
}

/** Empties bins, as trades that drained them would have left them. */
export function emptyBins({ svm, pair }: DlmmBench, ids: readonly number[]): void {
  for (const id of ids) {
    const index = arrayIndexOf(id);
    const account = svm.get(binArrayOf(pair, index).address);
    if (account === null) continue;
    const at = FIRST_BIN_OFFSET + (id - index * BINS_PER_ARRAY) * BIN_SIZE;
    account.data.fill(0, at, at + 16);
    svm.setAccount(account);
  }
}

/** Places limit orders: X to sell above the active bin, or Y to buy below it. */
export function placeLimitOrders(
  bench: DlmmBench,
  sellX: boolean,
  orders: readonly { id: number; amount: bigint }[],
): void {
  const { svm, wallet, pair } = bench;
  const mint = sellX ? bench.x : bench.y;
  run(
    bench,
    "limit order",
    concatBytes(
      PLACE_LIMIT_ORDER,
      Uint8Array.of(sellX ? 1 : 0),
      new Uint8Array(16),
      Uint8Array.of(0),
      u32(orders.length),
      ...orders.map(({ id, amount }) => concatBytes(u32(id), u64(amount))),
      u32(0),
    ),
    [
      writable(pair),
      extensionMeta(bench),
      writable(derive(DLMM_PROGRAM, pair, mint)),
      readonly(mint),
      writableSigner(svm.newAddress()),
      writableSigner(wallet),
      readonly(wallet),
      writable(tokensOf(bench, mint)),
      writableSigner(wallet),
      readonly(svm.get(mint)!.owner),
      readonly(SYSTEM_PROGRAM),
      readonly(DLMM_EVENT_AUTHORITY),
      readonly(DLMM_PROGRAM),
      ...arraysFor(
        bench,
        orders.map(({ id }) => id),
      ),
    ],
  );
}

const tokensOf = ({ svm, wallet }: DlmmBench, mint: Address): Address =>
  associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);

const extensionMeta = ({ extended, pair }: DlmmBench): AccountMeta =>
  extended ? writable(bitmapExtensionOf(pair).address) : readonly(DLMM_PROGRAM);

/** The arrays of these bins, created where they are missing. */
function arraysFor(bench: DlmmBench, ids: readonly number[]): AccountMeta[] {
  const indices = [...new Set(ids.map(arrayIndexOf))].sort((a, b) => a - b);
  return indices.map((index) => {
    const address = binArrayOf(bench.pair, index).address;
    if (bench.svm.get(address) === null) {
      run(bench, "bin array", concatBytes(INITIALIZE_BIN_ARRAY, u64(BigInt(index))), [
        readonly(bench.pair),
        writable(address),
        writableSigner(bench.wallet),
        readonly(SYSTEM_PROGRAM),
      ]);
    }
    return writable(address);
  });
}
