import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { LEAN_MARGIN_BPS, type Quote } from "../venue.ts";
import { withArrays } from "./after.ts";
import { whirlpoolArraySpan } from "./layout.ts";
import { swapWhirlpool, type WhirlpoolFill } from "./math.ts";
import { arraysUsed, fillNaming, type WhirlpoolQuoteFill } from "./plan.ts";
import type { ArraySlot, WhirlpoolState } from "./state.ts";
import { whirlpoolTickAt } from "./tick-price.ts";

/** The same quote by the older instruction, if both mints are of the SPL Token program. */
export function olderWhirlpool(
  { tokenPrograms }: WhirlpoolState,
  quote: Quote<WhirlpoolQuoteFill>,
): Quote<WhirlpoolQuoteFill> | undefined {
  if (quote.fill.isOlder === true || tokenPrograms.some((program) => program !== TOKEN_PROGRAM)) return undefined;
  return { ...quote, fill: { ...quote.fill, isOlder: true } };
}

/** The same quote with the arrays alone that the price comes near to; the first one is named again in the places of the others. */
export function leanWhirlpool(
  state: WhirlpoolState,
  quote: Quote<WhirlpoolQuoteFill>,
): Quote<WhirlpoolQuoteFill> | undefined {
  const { asked, tickArrays, isOlder } = quote.fill;
  const { aToB, exactIn, amount, now } = asked;
  const whole = swapWhirlpool(state.curve, aToB, exactIn, amount, now);
  if (whole === undefined) return undefined;
  const [first, second, third, further] = nearArrays(state, whole, aToB);
  if (first === undefined || further !== undefined) return undefined;
  const near = [first, second ?? first, third ?? first] as const;
  if (new Set(near).size >= new Set(tickArrays).size) return undefined;
  // A program that is given fewer arrays searches less far.
  const seen = withArrays(
    state,
    near.map(({ address }) => address),
  );
  const fill = swapWhirlpool(seen.curve, aToB, exactIn, amount, now);
  if (fill === undefined || fill.input !== whole.input || fill.output !== whole.output) return undefined;
  const named = fillNaming(state, fill, asked, near);
  return { ...quote, fill: isOlder === true ? { ...named, isOlder } : named };
}

/** The arrays that a trade looks into, and those on either side of it that prices reach by moving less than the margin. */
function nearArrays(state: WhirlpoolState, fill: WhirlpoolFill, aToB: boolean): readonly ArraySlot[] {
  const { curve, routes } = state;
  const { arrays, behind } = routes[aToB ? 0 : 1];
  const used = arraysUsed(state, fill, aToB);
  const [first, last, next] = [arrays[0]!, arrays[used - 1]!, arrays[used]];
  const span = whirlpoolArraySpan(curve.tickSpacing);
  const end = whirlpoolTickAt(fill.sqrtPrice);
  // Rising prices leave an array one spacing before its end.
  const back = aToB ? first.start + span - curve.tick : curve.tick - first.start;
  const ahead = aToB ? end - last.start : last.start + span - curve.tickSpacing - end;
  return [
    ...arrays.slice(0, used),
    ...(next !== undefined && ahead <= LEAN_MARGIN_BPS ? [next] : []),
    ...(behind !== undefined && back <= LEAN_MARGIN_BPS ? [behind] : []),
  ];
}
