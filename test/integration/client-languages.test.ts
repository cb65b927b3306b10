import { execFile, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { signTransaction } from "../../src/client/signature/signing.ts";
import { signatureBytes } from "../../src/client/signature/wire-layout.ts";
import { checkSigners } from "../../src/client/verify/message-checks.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { fromBase58 } from "../../src/client/wallet.ts";
import { encodeBase58 } from "../../src/primitives/encoding/base58.ts";
import { CHALLENGES, outcomes } from "../support/challenges.ts";
import { childEnvironment } from "../support/child-environment.ts";
import { PATIENCE_MS } from "../support/eventually.ts";
import { startForeignOutcome } from "../support/foreign-outcome.ts";
import { startHostileSignIn } from "../support/hostile-sign-in.ts";
import { answersBy, SECRET, SIGNING } from "../support/signing-forms.ts";
import { SIGNATURE, SIGNED, startUndecided } from "../support/undecided-service.ts";

const PACKAGES = resolve(import.meta.dirname, "../../clients/python");
const MODULE = resolve(PACKAGES, "tradewire/challenge.py");
/** Reads the module alone: the package itself needs `cryptography`. */
const PROGRAM = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("challenge", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for case in json.loads(sys.argv[2]):
    try:
        module.check_challenge(case["message"], case["wallet"], case["baseUrl"], case["domain"] or None, case["nowMs"] / 1000)
        print("signed")
    except ValueError as error:
        print(error)
`;
const SIGN_IN = `
import sys
from tradewire import Tradewire, Wallet
try:
    print(Tradewire(sys.argv[1]).sign_in(Wallet("US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx")))
except ValueError as error:
    print(error)
`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const title = "the client in Python signs the service's own challenge, and nothing else";

test.runIf(hasPython)(hasPython ? title : `${title} (not run: python3 is not here)`, async () => {
  const given = ["-c", PROGRAM, MODULE, JSON.stringify(CHALLENGES)];
  const { stdout } = await promisify(execFile)("python3", given, { env: childEnvironment({}) });
  expect(outcomes(stdout)).toEqual(outcomes());
});

const hasPackages = spawnSync("python3", ["-c", "import cryptography"]).status === 0;
const signIn = "sign_in of the client in Python signs no login for another site";

test.runIf(hasPackages)(hasPackages ? signIn : `${signIn} (not run: cryptography is not here)`, async () => {
  const service = await startHostileSignIn();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", SIGN_IN, service.url], { env });
  service.close();
  expect(stdout).toContain("the challenge signs in to app.bank.example");
  expect(service.calls).toEqual(["/v1/auth/challenge"]);
});

const hasMypy = spawnSync("python3", ["-c", "import cryptography, mypy"]).status === 0;
const typed = "mypy finds nothing in the client in Python and its example, by its strict rules";

test.runIf(hasMypy)(hasMypy ? typed : `${typed} (not run: mypy or cryptography is not here)`, async () => {
  const given = ["-m", "mypy", "--cache-dir", "/dev/null"];
  const options = { cwd: PACKAGES, env: childEnvironment({}) };
  const { stdout } = await promisify(execFile)("python3", given, options).catch((failed) => failed);
  expect(stdout).toMatch(/^Success: no issues found in \d+ source files\n$/);
});

const MOVED = `
import sys
from tradewire import Tradewire, TradewireError
for status in (301, 302, 303, 307, 308):
    client = Tradewire(f"{sys.argv[1]}/moved/{status}", "api_x")
    for call in (client.get_priority, lambda: client.submit({"submissionToken": "token", "signedTransaction": sys.argv[2]})):
        try:
            call()
        except TradewireError as error:
            print(error.status, error.retryable)
`;
const stay = "the client in Python follows no redirect with its key";

test.runIf(hasPackages)(hasPackages ? stay : `${stay} (not run: cryptography is not here)`, async () => {
  const service = await startUndecided();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", MOVED, service.url, SIGNED], { env });
  service.close();
  const expected = ["301 False", "302 True", "303 True", "307 True", "308 False"].flatMap((line) => [line, line]);
  expect(stdout.trim().split("\n")).toEqual(expected);
  expect(service.strayed).toEqual([]);
});

const SUBMIT = `
import sys
from tradewire import Tradewire
print(Tradewire(sys.argv[1], "api_x").submit_until_decided("token", sys.argv[2]))
`;
const submit = "the client in Python submits again over cut answers and pages of a proxy";

test.runIf(hasPackages)(hasPackages ? submit : `${submit} (not run: cryptography is not here)`, async () => {
  const service = await startUndecided();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", SUBMIT, service.url, SIGNED], { env });
  service.close();
  expect(stdout).toBe(`{'status': 'confirmed', 'signature': '${SIGNATURE}', 'slot': 4}\n`);
  const body = `{"submissionToken": "token", "signedTransaction": "${SIGNED}"}`;
  expect(new Set(service.bodies)).toEqual(new Set([body]));
  expect(service.bodies).toHaveLength(service.answers);
});

const FOREIGN = `
import sys
from tradewire import Tradewire, UnexpectedAnswerError, signature_of
client, signed = Tradewire(sys.argv[1], "api_x"), sys.argv[2]
print(signature_of(signed))
for call in (
    lambda: client.submit({"submissionToken": "token", "signedTransaction": signed}),
    lambda: client.submit_until_decided("token", signed),
    lambda: client.get_trade(signature_of(signed)),
    lambda: next(client.watch_trade(signature_of(signed))),
):
    try:
        print("believed", call())
    except UnexpectedAnswerError as refused:
        print(refused.code, refused.retryable)
print(client.get_trade("3" * 87)["status"], next(client.watch_trade("3" * 87))["status"])
`;
const foreign = "the client in Python takes no other trade's outcome for its own";

test.runIf(hasPackages)(hasPackages ? foreign : `${foreign} (not run: cryptography is not here)`, async () => {
  const service = await startForeignOutcome();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", FOREIGN, service.url, SIGNED], { env });
  service.close();
  const refused = Array.from({ length: 4 }, () => "UNEXPECTED_ANSWER False");
  expect(stdout.trim().split("\n")).toEqual([SIGNATURE, ...refused, "finalized finalized"]);
});

const NOT_SAID = `
import sys
from tradewire import Tradewire
for path in ("/failed", "/empty"):
    client = Tradewire(sys.argv[1] + path, "api_x")
    for call in (client.get_profile, lambda: client.get_trade("3" * 87)):
        try:
            print("believed", call())
        except ConnectionError as refused:
            print(refused)
`;
const notSaid = "the client in Python takes no answer for a success that does not say so";

test.runIf(hasPackages)(hasPackages ? notSaid : `${notSaid} (not run: cryptography is not here)`, async () => {
  const service = await startForeignOutcome();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", NOT_SAID, service.url], { env });
  service.close();
  const refused = Array.from({ length: 4 }, () => "the answer was cut, or is not the service's");
  expect(stdout.trim().split("\n")).toEqual(refused);
});

const STEERING = `
import sys
from tradewire import Tradewire, TradewireError
try:
    Tradewire(sys.argv[1] + "/steering").get_priority()
except TradewireError as refused:
    print(str(refused)[:40], refused.code, len(refused.message), all(each.isprintable() for each in str(refused)))
`;
const steering = "the client in Python hands on no character that steers a terminal";

test.runIf(hasPackages)(hasPackages ? steering : `${steering} (not run: cryptography is not here)`, async () => {
  const service = await startForeignOutcome();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", STEERING, service.url], { env });
  service.close();
  expect(stdout.trim()).toBe("NO [2J: no ]52;c;QUJD  xxxxxxxxxxxxxxxxx NO [2J 4000 True");
});

const ENDLESS = `
import sys
from tradewire import Tradewire, transport
transport.TIMEOUT = 1
for path in ("/endless", "/slow", "/slow-head"):
    try:
        Tradewire(sys.argv[1] + path).get_priority()
    except (ConnectionError, TimeoutError) as cut:
        print(cut)
for path in ("/endless", "/garbled", "/cut", "/early"):
    try:
        for _ in Tradewire(sys.argv[1] + path).watch_trade("3" * 87):
            pass
    except ConnectionError as cut:
        print(cut)
`;
const CUT_STREAM = "the stream was cut: open it again";
const endless = "the client in Python reads no answer without end";

test.runIf(hasPackages)(hasPackages ? endless : `${endless} (not run: cryptography is not here)`, async () => {
  const service = await startForeignOutcome();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", ENDLESS, service.url], { env });
  service.close();
  const late = "the answer took too long";
  const reasons = ["the answer was cut, or is not the service's", late, late];
  const early = "the stream ended before the trade was final: open it again";
  const streams = ["a message of the stream is too long", CUT_STREAM, CUT_STREAM, early];
  expect(stdout.trim().split("\n")).toEqual([...reasons, ...streams]);
  expect(service.written).toBeLessThan(30_000_000);
});

const QUIET = `
import sys
from tradewire import Tradewire
client = Tradewire(sys.argv[1] + "/quiet", "api_x")
try:
    for message in client.watch_trade("3" * 87, seconds=1):
        print(message["status"])
except TimeoutError as late:
    print(late)
print(next(client.watch_trade("3" * 87, seconds=3600))["status"])
`;
const quiet = "the client in Python leaves a stream after the time that was asked for, however quiet it is";

test.runIf(hasPackages)(hasPackages ? quiet : `${quiet} (not run: cryptography is not here)`, async () => {
  const service = await startForeignOutcome();
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", QUIET, service.url], { env });
  service.close();
  expect(stdout.trim().split("\n")).toEqual([
    "finalized",
    "the stream was open for as long as was asked for",
    "finalized",
  ]);
});

const FORMS = `
import json, sys
from tradewire import Wallet, signature_of
def answer(kind, text):
    if kind == "signature":
        return signature_of(text)
    return Wallet(text).address if kind == "key" else Wallet(sys.argv[1]).sign(text)
for case in json.loads(sys.argv[2]):
    try:
        print(answer(case["kind"], case["text"]))
    except ValueError:
        print("refused")
`;
const forms = "the wallet in Python takes the keys, and signs the forms, that every client takes and signs";

test.runIf(hasPackages)(hasPackages ? forms : `${forms} (not run: cryptography is not here)`, async () => {
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", FORMS, SECRET, JSON.stringify(SIGNING)], { env });
  expect(answersBy(stdout)).toEqual(answersBy());
});

test("the library takes the same keys, and signs no form that the other clients refuse", async () => {
  const wallet = fromBase58(SECRET);
  for (const { kind, name, text, answer } of SIGNING) {
    const wire = Uint8Array.from(Buffer.from(text, "base64"));
    // What the library asks for a signature, it has signed itself.
    if (kind === "signature" && answer !== "refused") expect(encodeBase58(signatureBytes(wire)), name).toBe(answer);
    if (kind === "key")
      expect(
        answered(() => fromBase58(text).publicKey.toString()),
        name,
      ).toBe(answer);
    // It is given bytes.
    if (kind !== "sign" || Buffer.from(wire).toString("base64") !== text) continue;
    const problems: string[] = [];
    const refuse = (reason: string) => problems.push(reason);
    const read = answered(() => `${checkSigners(readTransaction(wire), wallet.publicKey, refuse)}`);
    if (answer === "refused") expect(read === "refused" || problems.length > 0, name).toBe(true);
    else expect(Buffer.from(await signTransaction(wallet, wire)).toString("base64"), name).toBe(answer);
  }
});

function answered(answer: () => string): string {
  try {
    return answer();
  } catch {
    return "refused";
  }
}

const GIVEN_UP = `
import sys
from tradewire import Tradewire, client
client.PATIENCE = 1
try:
    Tradewire("http://127.0.0.1:9", "api_x").submit_until_decided("token", sys.argv[1])
except TimeoutError as late:
    print(late, "|", late.__cause__)
`;
const givenUp = "the client in Python does not wait for ever for a service that is gone";

test.runIf(hasPackages)(hasPackages ? givenUp : `${givenUp} (not run: cryptography is not here)`, async () => {
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", GIVEN_UP, SIGNED], { env, timeout: PATIENCE_MS });
  expect(stdout).toMatch(/^not decided within 1 seconds: \S+ may still land, look it up \| .*refused/);
  expect(stdout).toContain(SIGNATURE);
});

const PAUSES = `
import json
from tradewire.client import _pause_of
for asked in ("1500", "1", "499.9", "60000", "1e999", "1" + "0" * 400, "0", "-1", "null", "[1]"):
    print(_pause_of(json.loads(asked)))
`;
const pauses = "the client in Python waits between half a second and ten, whatever the service asks for";

test.runIf(hasPackages)(hasPackages ? pauses : `${pauses} (not run: cryptography is not here)`, async () => {
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", PAUSES], { env });
  expect(stdout.trim().split("\n").map(Number)).toEqual([1.5, 0.5, 0.5, 10, 10, 10, 0.5, 0.5, 0.5, 0.5]);
});

const KEPT = `
import sys
from concurrent.futures import ThreadPoolExecutor
from tradewire import Tradewire, TradewireError
client = Tradewire(sys.argv[1], "api_x")
def ask():
    print(client.get_priority()["call"])
ask()
try:
    client.get_profile()
except TradewireError as refused:
    print(refused.code)
for _ in range(4):
    ask()
try:
    next(client.watch_trade("3" * 87))
except ConnectionError as cut:
    print(cut)
ask()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda _: client.get_priority(), range(24)))
`;
const kept = "the client in Python asks on the connection that it has, and on another one once that is closed";

test.runIf(hasPackages)(hasPackages ? kept : `${kept} (not run: cryptography is not here)`, async () => {
  const sockets: Socket[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    const call = ++calls;
    const socket = response.socket!;
    const answer = (data: object) => response.end(JSON.stringify({ success: true, data }));
    if (request.url === "/v1/auth/profile") {
      response.writeHead(404).end('{"success":false,"error":{"code":"NOT_FOUND","message":"none"}}');
    } else if (request.url!.endsWith("/events")) response.end("event: end\ndata: {}\n\n");
    else if (call === 3)
      answer({ call }).on("finish", () => socket.destroy()); // closed while it waits
    else if (call === 5)
      socket.destroy(); // closed in place of an answer
    else answer({ call });
  });
  server.on("connection", (socket: Socket) => sockets.push(socket));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", KEPT, url], { env });
  server.close();
  server.closeAllConnections();
  const early = "the stream ended before the trade was final: open it again";
  expect(stdout.trim().split("\n")).toEqual(["1", "NOT_FOUND", "3", "4", "6", "7", early, "9"]);
  // One to the third call, one to the fifth, one to the stream, which it closes, and the last; callers at once have eight.
  expect(sockets.length).toBeLessThanOrEqual(4 + 1 + 7);
  expect(calls).toBe(9 + 24);
});

const NO_TEXT = `
import sys
from tradewire import Tradewire, Wallet
wallet = Wallet("US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx")
for _ in range(4):
    try:
        Tradewire(sys.argv[1]).sign_in(wallet)
    except ConnectionError as broken:
        print(broken)
for transaction in (None, 5, ["AQ=="], {}):
    try:
        wallet.sign(transaction)
    except ValueError as refused:
        print(refused)
`;
const noText = "the client in Python takes nothing for a text that is none";

test.runIf(hasPackages)(hasPackages ? noText : `${noText} (not run: cryptography is not here)`, async () => {
  const answers = [{}, { message: ["a"] }, { message: 1.5 }, { message: "" }];
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ success: true, data: answers.shift() }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", NO_TEXT, url], { env });
  server.close();
  server.closeAllConnections();
  expect(stdout.trim().split("\n")).toEqual([
    ...Array(4).fill("the answer has no such text, or is not the service's"),
    ...Array(4).fill("not an unsigned transaction in base64"),
  ]);
});

const BAD_KEY = `
import sys, traceback
from tradewire import Tradewire
for key in ("api_SECRET\\n# my key", "api_SECRET\\u2026"):
    try:
        Tradewire("http://127.0.0.1:9", key).get_priority()
    except ValueError as refused:
        traceback.print_exc(file=sys.stdout)
try:
    Tradewire("http://127.0.0.1:9", "api_SECRET\\n").get_priority()
except OSError as lost:
    print("lost", lost)
`;
const badKey = "the client in Python names no key that a header cannot carry";

test.runIf(hasPackages)(hasPackages ? badKey : `${badKey} (not run: cryptography is not here)`, async () => {
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", BAD_KEY], { env });
  expect(stdout.match(/ValueError: the API key holds a character that no header can carry/g)).toHaveLength(2);
  expect(stdout).toContain("lost");
  expect(stdout).not.toContain("SECRET");
});
