import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { hex, viewOf } from "../../src/primitives/bytes.ts";
import type { Account, ChainClock } from "../../src/solana/account.ts";
import { TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import {
  WHIRLPOOL_MINT_A_OFFSET,
  WHIRLPOOL_MINT_B_OFFSET,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  WHIRLPOOL_TICKS_PER_ARRAY,
  whirlpoolArrayStart,
  whirlpoolTickArrayOf,
} from "../../src/venues/orca-whirlpool/layout.ts";
import { swapWhirlpool } from "../../src/venues/orca-whirlpool/math.ts";
import type { WhirlpoolState } from "../../src/venues/orca-whirlpool/state.ts";
import { whirlpoolSqrtPrice } from "../../src/venues/orca-whirlpool/tick-price.ts";
import { orcaWhirlpool } from "../../src/venues/orca-whirlpool/venue.ts";
import type { Ask } from "../../src/venues/venue.ts";
import type { Replayed, Source } from "./replayed.ts";

/** A swap as it happened: amounts that left and reached the trader, in base units. */
type SwapRow = readonly [slot: number, signature: string, aToB: 0 | 1, exactIn: 0 | 1, input: string, output: string];
/** Liquidity added to a range of ticks, or taken out if negative. */
type LiquidityRow = readonly [slot: number, signature: string, lower: number, upper: number, delta: string];

interface PoolState {
  readonly sqrtPrice: string;
  readonly tick: number;
  readonly liquidity: string;
}

/** One pool over a day: where it stood, everything that moved it, and where the chain says it ended. */
interface PoolHistory {
  readonly address: string;
  readonly mints: readonly [string, string];
  readonly tickSpacing: number;
  readonly feeRate: number;
  readonly start: PoolState & { readonly ticks: readonly (readonly [tick: number, net: string, gross: string])[] };
  readonly end: PoolState;
  readonly events: readonly (SwapRow | LiquidityRow)[];
}

const FILE = new URL("figures/orca-whirlpool.json.br", import.meta.url);
const POOL_DISCRIMINATOR = hex("3f95d10ce1806309");
const ARRAY_DISCRIMINATOR = hex("4561bdbe6e0742bb");
const TICK_SIZE = 113;
const POOL_IN_ARRAY = 9_956;
const ARRAY_SIZE = 9_988;
const TRADES_FOR_NOTHING = "the program trades dust for nothing, which is not offered";
const RESERVE = 1n << 62n;
const CLOCK: ChainClock = { slot: 128_556_169n, epoch: 297n, unixTimestamp: 1_649_289_599n };

/**
 * Quotes every swap of eight pools' day in its order, each on the accounts that the ones before it left, and compares with what
 * happened. A pool whose last state is not the recorded one to the last bit gives one more row, which differs.
 *
 * The source has the day's swaps and its last state. The first state was solved for: backwards from the last one, swap by swap,
 * as the interval of prices from which each swap gives its amounts and ends in the interval of the next.
 * @param mostSwaps pools with more are left out
 */
export function replayWhirlpools(mostSwaps = Number.POSITIVE_INFINITY): Replayed[] {
  const { source, pools } = JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as {
    readonly source: Source;
    readonly pools: readonly PoolHistory[];
  };
  const chosen = pools.filter(({ events }) => events.filter(({ length }) => length === 6).length <= mostSwaps);
  return chosen.flatMap((history) => new ReplayedPool(history, source).run());
}

/** A pool's accounts, moved from swap to swap. */
class ReplayedPool {
  readonly #history: PoolHistory;
  readonly #source: Source;
  readonly #address: Address;
  readonly #accounts = new Map<Address, Account | null>();
  readonly #net = new Map<number, bigint>();
  readonly #gross = new Map<number, bigint>();
  #sqrtPrice: bigint;
  #tick: number;
  #liquidity: bigint;

  constructor(history: PoolHistory, source: Source) {
    this.#history = history;
    this.#source = source;
    this.#address = Address.of(history.address);
    this.#sqrtPrice = BigInt(history.start.sqrtPrice);
    this.#tick = history.start.tick;
    this.#liquidity = BigInt(history.start.liquidity);
    for (const [tick, net, gross] of history.start.ticks) {
      this.#net.set(tick, BigInt(net));
      this.#gross.set(tick, BigInt(gross));
    }
    for (const tick of this.#net.keys()) this.#writeArrayOf(tick);
    for (const [index, mint] of history.mints.entries()) {
      this.#put(Address.of(mint), TOKEN_PROGRAM, mintData());
      this.#put(this.#vault(index), TOKEN_PROGRAM, vaultData(Address.of(mint)));
    }
  }

  run(): Replayed[] {
    const rows: Replayed[] = [];
    for (const event of this.#history.events) {
      if (event.length === 6) rows.push(this.#swap(event));
      else this.#addLiquidity(event);
    }
    const end = `${this.#history.end.sqrtPrice} at ${this.#history.end.tick}, ${this.#history.end.liquidity}`;
    const reached = `${this.#sqrtPrice} at ${this.#tick}, ${this.#liquidity}`;
    if (reached !== end) rows.push({ ...this.#rowOf("the day's end"), happened: end, quoted: reached });
    return rows;
  }

  #swap([, signature, aToB, exactIn, input, output]: SwapRow): Replayed {
    this.#put(this.#address, WHIRLPOOL_PROGRAM, this.#poolData());
    const pair = { a: Address.of(this.#history.mints[0]), b: Address.of(this.#history.mints[1]) };
    const market = orcaWhirlpool.decode(this.#accounts.get(this.#address)!, pair)!;
    for (const missing of orcaWhirlpool.needs(market, this.#accounts)) this.#accounts.set(missing, null);
    const state = orcaWhirlpool.read(market, this.#accounts);
    const [inMint, outMint] = aToB === 1 ? [pair.a, pair.b] : [pair.b, pair.a];
    const mode = exactIn === 1 ? "exactIn" : "exactOut";
    const amount = BigInt(exactIn === 1 ? input : output);
    const quoted = quoteOrRefusal(state, { mode, inMint, outMint, amount, clock: CLOCK });
    const fill = swapWhirlpool(state.curve, aToB === 1, exactIn === 1, amount, CLOCK.unixTimestamp)!;
    this.#move(fill.sqrtPrice, aToB === 1);
    return {
      ...this.#rowOf(signature),
      happened: `${input} for ${output}`,
      quoted,
      explained: input === "0" || output === "0" ? TRADES_FOR_NOTHING : undefined,
    };
  }

  #rowOf(signature: string): Omit<Replayed, "happened" | "quoted"> {
    return { venue: orcaWhirlpool.id, signature, source: this.#source, explained: undefined };
  }

  /** Moves the price; a price that falls onto an initialised tick has crossed it. */
  #move(sqrtPrice: bigint, falling: boolean): void {
    let tick = this.#tick;
    while (whirlpoolSqrtPrice(tick) > sqrtPrice) tick--;
    while (whirlpoolSqrtPrice(tick + 1) <= sqrtPrice) tick++;
    if (falling && whirlpoolSqrtPrice(tick) === sqrtPrice && this.#gross.has(tick)) tick--;
    for (const [at, net] of this.#net) {
      if (at > this.#tick && at <= tick) this.#liquidity += net;
      if (at <= this.#tick && at > tick) this.#liquidity -= net;
    }
    this.#tick = tick;
    this.#sqrtPrice = sqrtPrice;
  }

  #addLiquidity([, , lower, upper, text]: LiquidityRow): void {
    const delta = BigInt(text);
    for (const [tick, net] of [
      [lower, delta],
      [upper, -delta],
    ] as const) {
      const gross = (this.#gross.get(tick) ?? 0n) + delta;
      if (gross === 0n) {
        this.#gross.delete(tick);
        this.#net.delete(tick);
      } else {
        this.#gross.set(tick, gross);
        this.#net.set(tick, (this.#net.get(tick) ?? 0n) + net);
      }
      this.#writeArrayOf(tick);
    }
    if (lower <= this.#tick && this.#tick < upper) this.#liquidity += delta;
  }

  #poolData(): Uint8Array {
    const data = new Uint8Array(WHIRLPOOL_SIZE);
    const view = viewOf(data);
    const { tickSpacing, feeRate, mints } = this.#history;
    data.set(POOL_DISCRIMINATOR);
    view.setUint16(41, tickSpacing, true);
    view.setUint16(43, tickSpacing, true);
    view.setUint16(45, feeRate, true);
    writeU128(view, 49, this.#liquidity);
    writeU128(view, 65, this.#sqrtPrice);
    view.setInt32(81, this.#tick, true);
    data.set(Address.of(mints[0]).bytes, WHIRLPOOL_MINT_A_OFFSET);
    data.set(Address.of(mints[1]).bytes, WHIRLPOOL_MINT_B_OFFSET);
    data.set(this.#vault(0).bytes, WHIRLPOOL_MINT_A_OFFSET + 32);
    data.set(this.#vault(1).bytes, WHIRLPOOL_MINT_B_OFFSET + 32);
    return data;
  }

  /** Any address: the vaults' balances are not part of the figures, and bound no quote here. */
  #vault(index: number): Address {
    const bytes = Uint8Array.from(this.#address.bytes);
    bytes[0] = index;
    return Address.from(bytes);
  }

  #writeArrayOf(tick: number): void {
    const { tickSpacing } = this.#history;
    const start = whirlpoolArrayStart(tick, tickSpacing);
    const data = new Uint8Array(ARRAY_SIZE);
    const view = viewOf(data);
    data.set(ARRAY_DISCRIMINATOR);
    view.setInt32(8, start, true);
    data.set(this.#address.bytes, POOL_IN_ARRAY);
    for (let i = 0; i < WHIRLPOOL_TICKS_PER_ARRAY; i++) {
      const gross = this.#gross.get(start + i * tickSpacing);
      if (gross === undefined) continue;
      const at = 12 + i * TICK_SIZE;
      data[at] = 1;
      writeU128(view, at + 1, this.#net.get(start + i * tickSpacing)!);
      writeU128(view, at + 17, gross);
    }
    this.#put(whirlpoolTickArrayOf(this.#address, start).address, WHIRLPOOL_PROGRAM, data);
  }

  #put(address: Address, owner: Address, data: Uint8Array): void {
    this.#accounts.set(address, { address, owner, data, lamports: 1n, executable: false, slot: CLOCK.slot });
  }
}

function quoteOrRefusal(state: WhirlpoolState, ask: Ask): string {
  try {
    const { inAmount, outAmount } = orcaWhirlpool.quote(state, ask);
    return `${inAmount} for ${outAmount}`;
  } catch (error) {
    if (error instanceof TradewireError) return `refused: ${error.message}`;
    throw error;
  }
}

function writeU128(view: DataView, at: number, value: bigint): void {
  const bits = BigInt.asUintN(128, value);
  view.setBigUint64(at, BigInt.asUintN(64, bits), true);
  view.setBigUint64(at + 8, bits >> 64n, true);
}

function mintData(): Uint8Array {
  const data = new Uint8Array(82);
  data[44] = 6;
  data[45] = 1;
  return data;
}

function vaultData(mint: Address): Uint8Array {
  const data = new Uint8Array(165);
  data.set(mint.bytes);
  viewOf(data).setBigUint64(64, RESERVE, true);
  data[108] = 1;
  return data;
}
