/** Opens connections and says nothing on them, for as long as it runs. Arguments: port, how many, from how many addresses. */
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [port, count, addresses] = process.argv.slice(2).map(Number);
for (let i = 0; i < count!; i++) {
  // Addresses that every machine has to itself; not the one that others of a test use.
  const localAddress = `127.0.0.${2 + (i % addresses!)}`;
  net.connect({ port: port!, host: "127.0.0.1", localAddress }).on("error", () => {});
  if (i % 100 === 99) await sleep(40);
}
await sleep(500);
process.send!("done");
setInterval(() => {}, 60_000);
