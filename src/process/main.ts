import { flushCompileCache } from "node:module";
import { keepCompiledCode } from "./compile-cache.ts";
import { describeStartFailure } from "./start-failure.ts";

// What `npm start` runs.
keepCompiledCode(process.env);
// Loaded only now, so that its code is kept.
import("./service.ts")
  .then(({ runService }) => runService(process.argv.slice(2)))
  // Now, not when the process ends: it may be killed.
  .then(flushCompileCache, (error: unknown) => {
    process.stderr.write(`${describeStartFailure(error)}\n`);
    process.exit(1);
  });
