import { type CliIo, type Command, EXIT, textFlag, UsageError } from "./command.ts";
import { print } from "./print.ts";
import { readIfThere } from "./settings/config.ts";
import { openReadOnlySession, openRegistration } from "./settings/session.ts";

const register: Command = {
  name: "register",
  usage: "register",
  summary: "registers a wallet by signing a challenge, and prints its API key",
  flags: ["label", "save", "revoke-others"],
  help: `The key is shown once. Keep it, and set TRADEWIRE_API_KEY to it:

  tradewire register --key-file wallet.json --save tradewire.key
  export TRADEWIRE_API_KEY=$(cat tradewire.key)`,
  async run(line, io) {
    const file = textFlag(line, "save");
    if (file !== undefined) await checkPlace(io, file);
    const { client } = await openRegistration(line, io);
    const { apiKey, keyId } = await client.register({
      label: textFlag(line, "label"),
      revokeOthers: line.flags.has("revoke-others"),
      signal: io.signal,
    });
    const savedTo = file !== undefined && (await saveKey(io, file, apiKey)) ? file : undefined;
    const walletAddress = client.wallet.publicKey.toString();
    const shown = savedTo !== undefined ? { keyId, walletAddress, savedTo } : { keyId, walletAddress, apiKey };
    print(line, io, shown, [
      `Registered ${walletAddress} with the key ${keyId}.`,
      savedTo !== undefined
        ? `The API key was written to ${savedTo}: pass it on with --api-key-file ${savedTo}, or name it in a profile.`
        : `API key, shown only now: ${apiKey}`,
    ]);
    return savedTo === file ? EXIT.done : EXIT.failed;
  },
};

/** False if the file cannot be written. The key then has to be shown: nobody could read it again. */
async function saveKey(io: CliIo, file: string, apiKey: string): Promise<boolean> {
  try {
    await io.writeSecret(file, `${apiKey}\n`);
    return true;
  } catch (error) {
    io.note(
      `${file} cannot be written, so the API key is shown here: ${error instanceof Error ? error.message : error}`,
    );
    return false;
  }
}

/** An API key may replace an older one; replacing a wallet's key would lose that key. @throws UsageError */
async function checkPlace(io: CliIo, file: string): Promise<void> {
  const text = (await readIfThere(io, file)) ?? "";
  if (text.trim() === "" || text.startsWith("api_")) return;
  throw new UsageError(`${file} holds no API key: it is never written over. Nothing was registered.`);
}

const keys: Command = {
  name: "keys",
  usage: "keys [revoke] [KEY_ID]",
  summary: "lists the API keys of this account, or revokes one",
  flags: [],
  help: `  tradewire keys
  tradewire keys revoke 4TqW8xZc`,
  async run(line, io) {
    const { client } = await openReadOnlySession(line, io);
    const [action, keyId] = line.words;
    if (action !== undefined) {
      if (action !== "revoke" || keyId === undefined) throw new UsageError("Usage: tradewire keys revoke KEY_ID");
      await client.revokeKey(keyId, { signal: io.signal });
      print(line, io, { revoked: keyId }, [`${keyId} no longer works.`]);
      return EXIT.done;
    }
    const list = await client.keys({ signal: io.signal });
    print(
      line,
      io,
      { keys: list },
      list.map(({ keyId, label, createdAt, revokedAt }) =>
        [keyId, `issued ${createdAt}`, revokedAt === undefined ? "in use" : `revoked ${revokedAt}`, label]
          .join("  ")
          .trimEnd(),
      ),
    );
    return EXIT.done;
  },
};

export const ACCOUNT_COMMANDS: readonly Command[] = [register, keys];
