import { expect, it } from "vitest";
import { FrameType, frame, headersFrame, settingsFrame } from "../../../../test/support/http2-frames.ts";
import { countRequests } from "./first-requests.ts";

const PREFACE = 24;
const after = (...frames: Buffer[]) => Buffer.concat([Buffer.alloc(PREFACE, "p"), settingsFrame(), ...frames]);
const data = frame(FrameType.data, 0, 1, Buffer.from("\0\0\x01\x01\x05 looks like a head"));

it("counts the streams that begin, whatever stands between them", () => {
  const get = (stream: number) => headersFrame(stream, "GET", "/v1/ping");
  expect(countRequests(after(), PREFACE)).toBe(0);
  expect(countRequests(after(get(1), data, get(3), frame(0x50, 0, 0, Buffer.alloc(300)), get(5)), PREFACE)).toBe(3);
});

it("counts no trailers, and no head that is cut off before its stream is known", () => {
  const post = headersFrame(1, "POST", "/v1/tx/buy", false);
  const trailers = headersFrame(1, "POST", "/v1/tx/buy");
  expect(countRequests(after(post, data, trailers), PREFACE)).toBe(1);
  const bytes = after(post, headersFrame(3, "GET", "/v1/ping"));
  for (let cut = 0; cut < 8; cut++) expect(countRequests(bytes.subarray(0, after(post).length + cut), PREFACE)).toBe(1);
  expect(countRequests(bytes.subarray(0, after(post).length + 9), PREFACE)).toBe(2);
});
