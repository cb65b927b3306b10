import { ACCOUNT_COMMANDS } from "./account-commands.ts";
import type { Command } from "./command.ts";
import { historyCommand } from "./history-command.ts";
import { LOOK_COMMANDS } from "./look-commands.ts";
import { TRADE_COMMANDS } from "./trade-commands.ts";
import { WALLET_COMMANDS } from "./wallet-commands.ts";

/** The commands of the client, in the order of the help. */
export const CLIENT_COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...TRADE_COMMANDS,
  ...LOOK_COMMANDS,
  historyCommand,
  ...WALLET_COMMANDS,
];
