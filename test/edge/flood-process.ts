/** Opens connections and says nothing on them, for as long as it runs. Arguments: port, how many. */
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [port, count] = process.argv.slice(2).map(Number);
for (let i = 0; i < count!; i++) {
  net.connect(port!, "127.0.0.1").on("error", () => {});
  if (i % 100 === 99) await sleep(40);
}
await sleep(500);
process.send!("done");
setInterval(() => {}, 60_000);
