import { type Flow, type FlowEdge, type FlowNetwork, type FlowSearch, INPUT, OUTPUT, type PathShare } from "./flow.ts";
import { PathChoice } from "./path-choice.ts";
import { spreadPaths } from "./spread-paths.ts";

/** Less room than this counts as none. In parts. */
const LEAST_ROOM = 1 / 64;
/** Less than this share of a part is not worth sending. */
const LEAST_SENT = 1 / 64;
/** Points read off curves for a path, on average. */
const READS_OF_A_PATH = 2;
/** How often an excess is taken back. */
const MOST_TRIMMED = 8;
/** What a move must gain, and what giving up a path must gain, as fractions of the output: less is noise, or an error of the curves. */
const LEAST_MOVE = 1e-12;
const LEAST_GIVEN_UP = 1e-6;
/** Of a market that gives nothing more for what it still takes: it takes what no other does. */
const LEAST_RATE = 1e-60;

/** A network that is being filled. */
export class Filling {
  readonly #edges: readonly FlowEdge[];
  readonly #choice: PathChoice;
  readonly #inputs: Float64Array;
  readonly #outputs: Float64Array;
  /** The size of a part in each mint. */
  readonly #units: Float64Array;
  /** The input of each edge, and the part's size, when its rate was computed. */
  readonly #ratedAt: Float64Array;
  readonly #ratedFor: Float64Array;
  readonly #paths: PathShare[] = [];
  inAmount = 0;
  outAmount = 0;
  /** Points read off curves, about. */
  reads = 0;

  constructor(network: FlowNetwork, search: FlowSearch) {
    this.#edges = network.edges;
    this.#choice = new PathChoice(network, search);
    this.#inputs = new Float64Array(network.edges.length);
    this.#outputs = new Float64Array(network.edges.length);
    this.#units = new Float64Array(network.mints);
    this.#ratedAt = new Float64Array(network.edges.length).fill(-1);
    this.#ratedFor = new Float64Array(network.edges.length);
  }

  /** Begins with the open paths of another flow, less what exceeds a market's limit. @param scale of their amounts */
  begin(paths: readonly PathShare[], scale: number): void {
    for (const { legs, sent } of paths) {
      if (!this.#choice.allows(legs)) continue;
      this.#paths.push({ legs, sent: sent * scale });
      this.#choice.take(legs);
    }
    for (let trimmed = 0; !this.#spread(); trimmed++) {
      if (trimmed < MOST_TRIMMED) this.#trim();
      else this.#paths.length = 0;
    }
    this.inAmount = this.#paths.reduce((sum, { sent }) => sum + sent, 0);
  }

  /** Sets the size of the next parts, and rates every open edge for one. */
  cut(part: number): void {
    const { mints, open, best } = this.#choice;
    const units = this.#units;
    units.fill(0);
    units[INPUT] = part;
    for (let to = 1; to < mints; to++) this.#rateAll(INPUT, to);
    for (let hub = 2; hub < mints; hub++) units[hub] = part * best[hub]!;
    // Hubs that are reached only through another hub.
    for (let hub = 2; hub < mints; hub++) {
      for (let to = 2; to < mints; to++) {
        const place = hub * mints + to;
        if (open[place]!.length === 0) continue;
        this.#rateAll(hub, to);
        if (units[to] === 0) units[to] = units[hub]! * best[place]!;
      }
    }
    for (let hub = 2; hub < mints; hub++) this.#rateAll(hub, OUTPUT);
  }

  /** Sends a part, or as much of it as fits, along the best path that takes any. Returns what was sent; 0 if no path takes any more. */
  push(part: number): number {
    for (let legs = this.#choice.bestPath(); legs !== undefined; legs = this.#choice.bestPath()) {
      const sent = this.#send(legs, this.#fitting(legs, part));
      if (sent > 0) {
        this.inAmount += sent;
        for (const { legs: passed } of this.#paths) for (const index of passed) this.#rateAnew(index);
        return sent;
      }
      this.#block(legs);
    }
    return 0;
  }

  /**
   * Sends a part along a path. If prices move in steps, more may then reach a full market behind a shared entry: its paths give the excess
   * back. Returns how much more is sent than before; 0, with nothing done, if that is next to nothing.
   */
  #send(legs: PathShare["legs"], part: number): number {
    if (part === 0) return 0;
    const given = this.#give(legs, part);
    if (this.#spread()) return part;
    const before = this.#paths.map((path) => (path === given ? path.sent - part : path.sent));
    let sent = part;
    for (let trimmed = 0; trimmed < MOST_TRIMMED; trimmed++) {
      sent -= this.#trim();
      if (sent < part * LEAST_SENT) break;
      if (this.#spread()) return sent;
    }
    for (const [index, path] of this.#paths.entries()) path.sent = before[index]!;
    this.#dropEmpty();
    this.#spread();
    return 0;
  }

  /** Takes what exceeds the limits of markets from their paths. Returns the amount. */
  #trim(): number {
    let taken = 0;
    for (const path of this.#paths) {
      let kept = 1;
      for (const index of path.legs) {
        if (index < 0) break;
        kept = Math.min(kept, this.#edges[index]!.curve.most / this.#inputs[index]!);
      }
      taken += path.sent * (1 - kept);
      path.sent *= kept;
    }
    return taken;
  }

  /** Excludes the last market of a path until the next cut. */
  #block(legs: PathShare["legs"]): void {
    const last = legs.findLast((index) => index >= 0)!;
    const { from, to } = this.#edges[last]!;
    this.#choice.rate(last, from, to, 0);
  }

  /**
   * Moves parts between paths while that gains, in steps from `first` down to `least`. Base units of input.
   *
   * @param isFine see `FlowSearch`
   */
  even(first: number, least: number, isFine: boolean): void {
    if (!this.#spread()) return;
    for (let step = first; step >= least; ) if (!this.#move(step) && !(isFine && this.#moveOnward(step))) step /= 2;
  }

  /** Gives up whole paths over hubs that carry no more than `most`, while that gains. Base units of input. */
  giveUpPaths(most: number): void {
    for (const path of this.#paths.filter(({ legs, sent }) => legs[1] >= 0 && sent <= most)) {
      const before = this.#paths.map((one) => ({ one, sent: one.sent }));
      const [inAmount, outAmount] = [this.inAmount, this.outAmount];
      this.#paths.splice(this.#paths.indexOf(path), 1);
      this.#spread();
      this.inAmount -= path.sent;
      this.cut(path.sent);
      let left = path.sent;
      for (let sent = left; sent > 0 && left > 0; left -= sent) sent = this.push(left);
      if (left <= 0 && this.outAmount > outAmount * (1 + LEAST_GIVEN_UP)) continue;
      this.#paths.length = 0;
      for (const { one, sent } of before) this.#paths.push(Object.assign(one, { sent }));
      this.#spread();
      this.inAmount = inAmount;
    }
  }

  /** A copy of the flow that was filled; undefined if nothing was. @param part whose value in each mint may be asked */
  flow(part: number): Flow | undefined {
    if (this.outAmount === 0) return undefined;
    return {
      paths: this.#paths,
      inputs: this.#inputs,
      outputs: this.#outputs,
      values: () => {
        this.cut(part);
        this.#rateWholeParts();
        return this.#choice.values();
      },
      inAmount: this.inAmount,
      outAmount: this.outAmount,
    };
  }

  /** Moves one part to the best path from the one that gives least for its last part. @returns false if that does not gain */
  #move(part: number): boolean {
    this.cut(part);
    const legs = this.#choice.bestPath();
    if (legs === undefined) return false;
    let worst: PathShare | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const path of this.#paths) {
      const rate = this.#lastRate(path.legs);
      if (rate >= least) continue;
      least = rate;
      worst = path;
    }
    if (worst === undefined || least >= this.#choice.rateOf(legs)) return false;
    const moved = this.#fitting(legs, Math.min(part, worst.sent));
    const before = this.outAmount;
    const kept = worst.sent;
    worst.sent -= moved;
    const given = this.#give(legs, moved);
    if (this.#spread() && this.outAmount > before * (1 + LEAST_MOVE)) {
      this.#dropEmpty();
      return true;
    }
    given.sent -= moved;
    worst.sent = kept;
    this.#dropEmpty();
    this.#spread();
    return false;
  }

  /**
   * Moves one part of a path over a full market to a better way onward from there: a move between whole paths sees no room in that market.
   * @returns false if that does not gain
   */
  #moveOnward(part: number): boolean {
    for (const path of this.#paths) {
      const kept = path.sent;
      const moved = Math.min(part, kept);
      const at = this.#lastFull(path.legs, moved);
      if (at < 0) continue;
      const onward = this.#choice.bestOnward(path.legs, at);
      if (onward === undefined || this.#lastRate(path.legs, at + 1) >= this.#choice.rateOf(onward, at + 1)) continue;
      const before = this.outAmount;
      path.sent -= moved;
      const given = this.#give(onward, moved);
      const isBetter = this.#spread() && this.outAmount > before * (1 + LEAST_MOVE);
      if (!isBetter) {
        given.sent -= moved;
        path.sent = kept;
      }
      this.#dropEmpty();
      if (isBetter) return true;
      this.#spread();
    }
    return false;
  }

  /** The place of a path's last market that has no room for a part and is followed by others, which are rated for it; -1 if there is none. */
  #lastFull(legs: PathShare["legs"], part: number): number {
    let unit = part;
    let full = -1;
    for (let at = 0; at + 1 < legs.length && legs[at + 1]! >= 0; at++) {
      const { curve, to } = this.#edges[legs[at]!]!;
      const input = this.#inputs[legs[at]!]!;
      const hasRoom = curve.most - input >= unit;
      unit *= this.#outputs[legs[at]!]! / input;
      if (hasRoom) continue;
      full = at;
      this.#rateFrom(to, unit);
    }
    return full;
  }

  /** Rates all ways onward from a hub for a part of this size there. */
  #rateFrom(hub: number, unit: number): void {
    const { mints, open, best } = this.#choice;
    this.#units[hub] = unit;
    this.#rateAll(hub, OUTPUT);
    for (let to = 2; to < mints; to++) {
      if (open[hub * mints + to]!.length === 0) continue;
      this.#rateAll(hub, to);
      if (this.#units[to] !== 0) continue;
      this.#units[to] = unit * best[hub * mints + to]!;
      this.#rateAll(to, OUTPUT);
    }
  }

  #dropEmpty(): void {
    const gone = this.#paths.findIndex(({ sent }) => sent <= 0);
    if (gone >= 0) this.#paths.splice(gone, 1);
  }

  #give(legs: PathShare["legs"], sent: number): PathShare {
    let path = this.#paths.find((one) => one.legs.every((leg, at) => leg === legs[at]));
    if (path === undefined) {
      path = { legs: [...legs], sent: 0 };
      this.#paths.push(path);
      this.#choice.take(legs);
    }
    path.sent += sent;
    return path;
  }

  /** @returns false if a market would exceed its limit: the flow through the edges is then unknown */
  #spread(): boolean {
    this.reads += READS_OF_A_PATH * this.#paths.length;
    const out = spreadPaths(this.#edges, this.#paths, this.#inputs, this.#outputs);
    if (out !== undefined) this.outAmount = out;
    return out !== undefined;
  }

  /** As much of a part as every market of the path takes. */
  #fitting(legs: PathShare["legs"], part: number): number {
    let most = Number.POSITIVE_INFINITY;
    // Backwards from the last market: a market may pass on only what the next one takes.
    for (let at = legs.length - 1; at >= 0; at--) {
      const index = legs[at]!;
      if (index < 0) continue;
      const { curve } = this.#edges[index]!;
      const input = this.#inputs[index]!;
      const output = this.#outputs[index]!;
      if (most < Number.POSITIVE_INFINITY) {
        // The output of an edge is shared in proportion to its paths' inputs: a part gets as much of it as the parts before.
        const shared = output > 0 ? (most * input) / output : Number.POSITIVE_INFINITY;
        most = Math.min(shared, curve.inputFor(output + most) - input);
      }
      most = Math.min(most, curve.most - input);
    }
    return Math.max(0, Math.min(part, most));
  }

  /** A market with little room left gives little for a whole part. */
  #rateWholeParts(): void {
    const { mints, open, rates } = this.#choice;
    for (const [place, edges] of open.entries()) {
      if (edges.length === 0) continue;
      const unit = this.#units[Math.floor(place / mints)]!;
      for (const index of edges) {
        const room = this.#edges[index]!.curve.most - this.#inputs[index]!;
        if (room < unit) rates[index]! *= Math.max(0, room / unit);
      }
      this.#choice.findBest(place);
    }
  }

  #rateAll(from: number, to: number): void {
    const choice = this.#choice;
    const place = from * choice.mints + to;
    const open = choice.open[place]!;
    for (let at = 0; at < open.length; at++) choice.rates[open[at]!] = this.#rateOf(open[at]!);
    choice.findBest(place);
  }

  /** Rates an edge for the next part if it takes more or less than before. */
  #rateAnew(index: number): void {
    if (index < 0 || this.#ratedAt[index] === this.#inputs[index]) return;
    const { from, to } = this.#edges[index]!;
    this.#choice.rate(index, from, to, this.#rateOf(index));
  }

  /** What an edge gives for one unit of the next part; 0 if it takes no more. */
  #rateOf(index: number): number {
    const { curve, from } = this.#edges[index]!;
    const input = this.#inputs[index]!;
    const unit = this.#units[from]!;
    if (this.#ratedAt[index] === input && this.#ratedFor[index] === unit) return this.#choice.rates[index]!;
    this.#ratedAt[index] = input;
    this.#ratedFor[index] = unit;
    const room = curve.most - input;
    if (unit <= 0 || room <= unit * LEAST_ROOM) return 0;
    const step = Math.min(unit, room);
    this.reads++;
    return Math.max((curve.out(input + step) - this.#outputs[index]!) / step, LEAST_RATE);
  }

  /** What a path gives for one unit of its last part, from one of its markets on. */
  #lastRate(legs: PathShare["legs"], first = 0): number {
    let rate = 1;
    this.reads += READS_OF_A_PATH;
    for (let at = first; at < legs.length; at++) {
      const index = legs[at]!;
      if (index < 0) break;
      const { curve, from } = this.#edges[index]!;
      const input = this.#inputs[index]!;
      const step = Math.min(this.#units[from]!, input);
      rate *= step <= 0 ? 0 : (this.#outputs[index]! - curve.out(input - step)) / step;
    }
    return rate;
  }
}
