import { expect, test } from "vitest";
import { createRandom } from "../../primitives/random.ts";
import { SlotPace } from "./slot-pace.ts";

/** What an error of the pace does to the end of a blockhash, 150 slots away; no answer looks further than 30 s and a margin. */
const errorMs = (pace: SlotPace, slotMs: number) => Math.abs(pace.slotMs - slotMs) * Math.min(150, 32_000 / slotMs);

test("before the first slots the node's own measure applies, or none", () => {
  const pace = new SlotPace();
  expect(pace.slotMs).toBe(0);
  pace.begin(300);
  expect(pace.slotMs).toBe(300);
  pace.note(100n, 0);
  pace.note(101n, 9);
  expect(pace.slotMs).toBe(300);
});

test("without the node's own measure, four slots are enough after the one that was under way", () => {
  const pace = new SlotPace();
  pace.note(49n, -3);
  for (let i = 0; i < 3; i++) pace.note(BigInt(50 + i), i * 210);
  expect(pace.slotMs).toBe(0);
  pace.note(53n, 3 * 210);
  expect(pace.slotMs).toBeCloseTo(210, 6);
});

test.each([80, 200, 400])(
  "slots of %i ms, up to 60 ms late and in bunches after stalls of 300 ms: the end of a lifetime is right within 500 ms from the first second on",
  (slotMs) => {
    const random = createRandom(slotMs);
    const pace = new SlotPace();
    pace.begin(slotMs);
    let heardMs = 0;
    let worst = 0;
    for (let slot = 0; slot * slotMs < 120_000; slot++) {
      const trueMs = slot * slotMs;
      // Every few seconds notices stall for a while, then come all at once.
      const stallEndsMs = Math.floor(trueMs / 2_700) * 2_700 + 300;
      heardMs = Math.max(heardMs, trueMs < stallEndsMs ? stallEndsMs : trueMs + Number(random.below(60n)));
      pace.note(BigInt(447_000_000 + slot), heardMs);
      if (trueMs > 1_000) worst = Math.max(worst, errorMs(pace, slotMs));
    }
    expect(worst).toBeLessThan(500);
  },
);

test("a change of pace is followed within eight seconds", () => {
  const pace = new SlotPace();
  pace.begin(200);
  let atMs = 0;
  let slot = 0n;
  for (; atMs < 20_000; atMs += 200) pace.note(++slot, atMs);
  for (const endMs = atMs + 8_200; atMs < endMs; atMs += 100) pace.note(++slot, atMs);
  expect(errorMs(pace, 100)).toBeLessThan(200);
});

test("neither a long silence nor a step back counts as a slot", () => {
  const pace = new SlotPace();
  for (let i = 0; i < 50; i++) pace.note(BigInt(i), i * 200);
  pace.note(60n, 60_000);
  pace.note(61n, 60_200);
  expect(pace.slotMs).toBeCloseTo(200, 6);
  pace.note(30n, 60_400);
  pace.note(31n, 60_600);
  expect(pace.slotMs).toBeCloseTo(200, 6);
});

test("notices that a process at work reads together count as one", () => {
  const pace = new SlotPace();
  pace.begin(200);
  let worst = 0;
  for (let slot = 0; slot < 100; slot++) {
    // Stands still for four seconds at first, then for half a second now and then.
    const stillUntilMs = slot < 20 ? 4_100 : Math.floor(slot / 20) * 4_000 + 510;
    pace.note(BigInt(700 + slot), Math.max(slot * 200, stillUntilMs));
    worst = Math.max(worst, errorMs(pace, 200));
  }
  expect(worst).toBeLessThan(1_500);
});

test.each([4, 8, 16])("a chain that becomes %i times as fast makes no endless bunch", (factor) => {
  const pace = new SlotPace();
  pace.begin(400);
  let atMs = 0;
  let slot = 0n;
  for (; atMs < 20_000; atMs += 400) pace.note(++slot, atMs);
  for (const endMs = atMs + 20_000; atMs < endMs; atMs += 400 / factor) pace.note(++slot, atMs);
  expect(errorMs(pace, 400 / factor)).toBeLessThan(500);
});
