/**
 * Opens connections and says nothing on them, for as long as it runs. Arguments: port, how many, from how many addresses, in
 * how many milliseconds. Says "ready", opens them evenly on the next message, then says "done".
 */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { giveWay } from "./core-times.ts";

giveWay();
const [port, count, addresses, durationMs] = process.argv.slice(2).map(Number);
process.send!("ready");
await once(process, "message");
const startMs = performance.now();
for (let opened = 0; opened < count!; await sleep(1)) {
  for (const due = Math.min(count!, ((performance.now() - startMs) * count!) / durationMs!); opened < due; opened++) {
    // Addresses that every machine has to itself; not the one that others of a test use.
    const localAddress = `127.0.0.${2 + (opened % addresses!)}`;
    net.connect({ port: port!, host: "127.0.0.1", localAddress }).on("error", () => {});
  }
}
await sleep(500);
process.send!("done");
setInterval(() => {}, 60_000);
