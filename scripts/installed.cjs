// Loaded first by the commands that a newcomer runs. Without `npm ci` the shell's own Node runs them, which may be too old to
// say more than which file it cannot read, so this is written for any Node.
const { existsSync } = require("node:fs");
const { join } = require("node:path");

if (!existsSync(join(__dirname, "../node_modules/node"))) {
  process.stderr.write("Run `npm ci` first: it installs what this project needs, its own Node 24 included.\n");
  process.exit(1);
}
