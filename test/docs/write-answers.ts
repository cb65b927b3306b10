import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { ANSWERS_FILE } from "../../src/api/openapi/read.ts";
import { differences, recordAnswers } from "../support/recorded-answers.ts";
import { startTestService } from "../support/service.ts";

// Part of `npm run generate`: the answers that the reference shows, by the service itself. Those that have the same fields as
// before stay, so that nothing changes by the values of a run.
const service = await startTestService();
try {
  const answers = await recordAnswers(service);
  const known = existsSync(ANSWERS_FILE) ? JSON.parse(readFileSync(ANSWERS_FILE, "utf8")) : {};
  if (differences(known, JSON.parse(JSON.stringify(answers))).length > 0) {
    writeFileSync(ANSWERS_FILE, `${JSON.stringify(answers, null, 2)}\n`);
  }
} finally {
  await service.close();
}
