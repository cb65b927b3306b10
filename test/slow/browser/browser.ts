import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of Chromium: CHROMIUM, or the usual places. Undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM, ...PLACES].find((path) => path !== undefined && path !== "" && existsSync(path));
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
