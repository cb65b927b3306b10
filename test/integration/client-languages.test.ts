import { execFile, spawnSync } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CHALLENGES, outcomes } from "../support/challenges.ts";
import { childEnvironment } from "../support/child-environment.ts";
import { startHostileSignIn } from "../support/hostile-sign-in.ts";

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

const SUBMIT = `
import sys
from tradewire import Tradewire
print(Tradewire(sys.argv[1], "api_x").submit_until_decided("token", "AQ==")["signature"])
`;
const submit = "the client in Python submits again over cut answers and pages of a proxy";

/** Answers to one submit after the other: a proxy's page, a cut answer, one without content, and the service's own. */
const ANSWERS: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>"),
  (response) => response.writeHead(504, { "content-length": 500 }).write("<h1>Gate", () => response.destroy()),
  (response) =>
    response.writeHead(200, { "content-length": 500 }).write('{"success":true,"da', () => response.destroy()),
  (response) => response.writeHead(200).end('{"success":true,"da'),
  (response) => response.writeHead(200).end("[]"),
  (response) => response.socket!.end("nonsense\r\n\r\n"),
  (response) => response.writeHead(503).end('{"success":false,"error":null}'),
  (response) => response.writeHead(429).end("slow down"),
  (response) =>
    response.writeHead(503).end('{"success":false,"error":{"code":"OVERLOADED","retryable":true,"retryAfterMs":1}}'),
  (response) => response.writeHead(200).end('{"success":true,"data":{"status":"pending"}}'),
  (response) => response.writeHead(200).end('{"success":true,"data":{"status":"confirmed","signature":"landed"}}'),
];

test.runIf(hasPackages)(hasPackages ? submit : `${submit} (not run: cryptography is not here)`, async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    ANSWERS[bodies.push(body) - 1]!(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const env = childEnvironment({ PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" });
  const { stdout } = await promisify(execFile)("python3", ["-c", SUBMIT, `http://127.0.0.1:${port}`], { env });
  server.close();
  expect(stdout).toBe("landed\n");
  expect(bodies).toEqual(ANSWERS.map(() => '{"submissionToken": "token", "signedTransaction": "AQ=="}'));
});
