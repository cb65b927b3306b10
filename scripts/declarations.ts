import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes the declarations under a folder import `.js`, as published code must; `tsc` leaves the `.ts` of the source. */
export function importCompiledFiles(folder: string): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".d.ts")) continue;
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replaceAll(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}
