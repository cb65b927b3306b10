import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CHALLENGES, outcomes } from "../../support/challenges.ts";
import { startHostileSignIn } from "../../support/hostile-sign-in.ts";
import { INCONSISTENT_KEY } from "../../support/secret-keys.ts";
import { startUndecided } from "../../support/undecided-service.ts";

const CLIENT = resolve(import.meta.dirname, "../../../clients/go");
const PROGRAM = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	tradewire "tradewire.example/client"
)

func main() {
	var cases []struct {
		Message, Wallet, BaseURL, Domain string
		NowMs                            int64
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	for _, c := range cases {
		terms := tradewire.ChallengeTerms{WalletAddress: c.Wallet, BaseURL: c.BaseURL, Domain: c.Domain, Now: time.UnixMilli(c.NowMs)}
		if err := tradewire.CheckChallenge(c.Message, terms); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("signed")
		}
	}
	wallet, _ := tradewire.WalletFromBase58("US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx")
	_, refused := tradewire.WalletFromBase58(os.Args[3])
	fmt.Fprintln(os.Stderr, refused)
	fmt.Fprintln(os.Stderr, wallet.SignIn(context.Background(), tradewire.New(os.Args[1], "")))
	done, err := tradewire.New(os.Args[2], "api_x").SubmitUntilDecided(context.Background(), "token", "AQ==")
	fmt.Fprintln(os.Stderr, done.Signature, err)
	for _, moved := range []string{"301", "308"} {
		_, err = tradewire.New(os.Args[2]+"/moved/"+moved, "api_x").SubmitUntilDecided(context.Background(), "token", "AQ==")
		fmt.Fprintln(os.Stderr, err)
	}
	_, err = tradewire.New(os.Args[2]+"/elsewhere", "api_x").SubmitUntilDecided(context.Background(), "token", "AQ==")
	fmt.Fprintln(os.Stderr, err)
}
`;
const hasGo = spawnSync("go", ["version"]).status === 0;
const title = "the client in Go signs the service's own challenge alone, and submits until the service decides";

test.runIf(hasGo)(hasGo ? title : `${title} (not run: go is not here)`, async () => {
  const run = promisify(execFile);
  const cwd = mkdtempSync(join(tmpdir(), "tradewire-go-"));
  const service = await startHostileSignIn();
  const undecided = await startUndecided();
  try {
    cpSync(CLIENT, join(cwd, "client"), { recursive: true });
    writeFileSync(join(cwd, "main.go"), PROGRAM);
    writeFileSync(join(cwd, "cases.json"), JSON.stringify(CHALLENGES));
    await run("go", ["mod", "init", "signer"], { cwd });
    const found = ["tradewire.example/client@v0.0.0", "tradewire.example/client=./client"];
    await run("go", ["mod", "edit", "-require", found[0]!, "-replace", found[1]!], { cwd });
    const { stdout, stderr } = await run("go", ["run", ".", service.url, undecided.url, INCONSISTENT_KEY], {
      cwd,
      timeout: 120_000,
    });
    expect(outcomes(stdout)).toEqual(outcomes());
    expect(stderr).toContain("the secret key is inconsistent");
    expect(stderr).toContain("the challenge signs in to app.bank.example");
    expect(service.calls).toEqual(["/v1/auth/challenge"]);
    expect(stderr).toContain("landed <nil>\n");
    expect(undecided.bodies).toHaveLength(undecided.answers);
    for (const status of [301, 308]) expect(stderr).toContain(`status ${status} and nothing of its own`);
    expect(undecided.strayed).toEqual([]);
    expect(stderr).toContain("status 404 and nothing of its own");
  } finally {
    service.close();
    undecided.close();
    rmSync(cwd, { recursive: true, force: true });
  }
});
