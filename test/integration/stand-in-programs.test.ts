import { describe, expect, it } from "vitest";
import { binaryHash, programNames, readManifest, sourceHash } from "../../src/sandbox/programs/manifest.ts";

describe("the committed stand-in programs", () => {
  const manifest = readManifest();

  it("are all built and recorded", () => {
    expect(Object.keys(manifest.programs)).toEqual(programNames());
  });

  for (const name of programNames()) {
    it(`${name}.so is what its sources build: otherwise run "npm run programs"`, () => {
      expect(manifest.programs[name]).toEqual({ source: sourceHash(name), binary: binaryHash(name) });
    });
  }
});
