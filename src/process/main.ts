// First: what is loaded after it is kept. Node loads it before this file, too, if it is asked to with `--import`, as `npm start` does.
import "./compile-cache.js";
import { flushCompileCache } from "node:module";

// What `npm start` runs. Loaded only now, so that its code is kept.
import("./service.ts")
  .then(({ runService }) => runService(process.argv.slice(2)))
  // Now, not when the process ends: it may be killed.
  .then(flushCompileCache, async (error: unknown) => {
    const { describeStartFailure } = await import("./start-failure.ts");
    process.stderr.write(`${describeStartFailure(error)}\n`);
    process.exit(1);
  });
