import { runService } from "./service.ts";
import { describeStartFailure } from "./start-failure.ts";

// What `npm start` runs.
runService(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(1);
});
