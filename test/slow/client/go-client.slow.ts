import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CHALLENGES, outcomes } from "../../support/challenges.ts";
import { startForeignOutcome } from "../../support/foreign-outcome.ts";
import { startHostileSignIn } from "../../support/hostile-sign-in.ts";
import { answersBy, SECRET, SIGNING } from "../../support/signing-forms.ts";
import { SIGNATURE, SIGNED, startUndecided } from "../../support/undecided-service.ts";

const CLIENT = resolve(import.meta.dirname, "../../../clients/go");
const PROGRAM = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
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
	var signing []struct{ Kind, Text string }
	text, _ = os.ReadFile("signing.json")
	if err := json.Unmarshal(text, &signing); err != nil {
		panic(err)
	}
	signer, _ := tradewire.WalletFromBase58(os.Args[3])
	for _, c := range signing {
		answer, err := "", error(nil)
		switch c.Kind {
		case "key":
			var own *tradewire.Wallet
			if own, err = tradewire.WalletFromBase58(c.Text); err == nil {
				answer = own.Address()
			}
		case "sign":
			answer, err = signer.Sign(c.Text)
		default:
			answer, err = tradewire.SignatureOf(c.Text)
		}
		if err != nil {
			answer = "refused"
		}
		fmt.Println(answer)
	}
	wallet, _ := tradewire.WalletFromBase58("US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx")
	fmt.Fprintln(os.Stderr, wallet.SignIn(context.Background(), tradewire.New(os.Args[1], "")))
	done, err := tradewire.New(os.Args[2], "api_x").SubmitUntilDecided(context.Background(), "token", os.Args[4])
	fmt.Fprintln(os.Stderr, done.Signature, *done.Slot, err)
	for _, moved := range []string{"301", "308"} {
		_, err = tradewire.New(os.Args[2]+"/moved/"+moved, "api_x").SubmitUntilDecided(context.Background(), "token", os.Args[4])
		fmt.Fprintln(os.Stderr, err)
	}
	_, err = tradewire.New(os.Args[2]+"/elsewhere", "api_x").SubmitUntilDecided(context.Background(), "token", os.Args[4])
	fmt.Fprintln(os.Stderr, err)

	ctx, foreign := context.Background(), tradewire.New(os.Args[5], "api_x")
	signature, err := tradewire.SignatureOf(os.Args[4])
	fmt.Fprintln(os.Stderr, signature, err)
	told, err := foreign.Submit(ctx, tradewire.SubmitRequest{SubmissionToken: "token", SignedTransaction: os.Args[4]})
	fmt.Fprintln(os.Stderr, "submit", told, err)
	told, err = foreign.SubmitUntilDecided(ctx, "token", os.Args[4])
	fmt.Fprintln(os.Stderr, "submit until decided", told, err)
	looked, err := foreign.GetTrade(ctx, signature)
	fmt.Fprintln(os.Stderr, "get", looked, err)
	for seen, err := range foreign.WatchTrade(ctx, signature) {
		fmt.Fprintln(os.Stderr, "watch", seen, err)
	}
	own, err := foreign.GetTrade(ctx, strings.Repeat("3", 87))
	fmt.Fprintln(os.Stderr, "own", own.Status, err)
	for seen, err := range foreign.WatchTrade(ctx, strings.Repeat("3", 87)) {
		fmt.Fprintln(os.Stderr, "own", seen.Status, err)
	}
	for _, path := range []string{"/endless", "/slow", "/slow-head"} {
		bad := tradewire.New(os.Args[5]+path, "api_x")
		bad.Timeout = time.Second
		_, err := bad.GetPriority(ctx)
		fmt.Fprintln(os.Stderr, path, err)
	}
	for _, err := range tradewire.New(os.Args[5]+"/endless", "").WatchTrade(ctx, signature) {
		fmt.Fprintln(os.Stderr, "endless stream", err)
	}
	for _, path := range []string{"/garbled", "/cut", "/early"} {
		for _, err := range tradewire.New(os.Args[5]+path, "").WatchTrade(ctx, strings.Repeat("3", 87)) {
			fmt.Fprintln(os.Stderr, path, "stream", err)
		}
	}
	for _, path := range []string{"/failed", "/empty"} {
		got, err := tradewire.New(os.Args[5]+path, "api_x").GetProfile(ctx)
		fmt.Fprintln(os.Stderr, path, got, err)
	}
	_, err = tradewire.New(os.Args[5]+"/steering", "").GetPriority(ctx)
	fmt.Fprintln(os.Stderr, "steering", err)
	brief, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = tradewire.New("http://127.0.0.1:9", "").SubmitUntilDecided(brief, "token", os.Args[4])
	fmt.Fprintln(os.Stderr, "given up:", errors.Is(err, context.DeadlineExceeded), err)
	hurried, cancelHurried := context.WithTimeout(ctx, time.Second)
	defer cancelHurried()
	_, _ = tradewire.New(os.Args[2]+"/hurried", "api_x").SubmitUntilDecided(hurried, "token", os.Args[4])
}
`;
const hasGo = spawnSync("go", ["version"]).status === 0;
const title = "the client in Go signs what every client signs alone, and submits until the service decides";

test.runIf(hasGo)(hasGo ? title : `${title} (not run: go is not here)`, async () => {
  const run = promisify(execFile);
  const cwd = mkdtempSync(join(tmpdir(), "tradewire-go-"));
  const service = await startHostileSignIn();
  const undecided = await startUndecided();
  const foreign = await startForeignOutcome();
  try {
    cpSync(CLIENT, join(cwd, "client"), { recursive: true });
    writeFileSync(join(cwd, "main.go"), PROGRAM);
    writeFileSync(join(cwd, "cases.json"), JSON.stringify(CHALLENGES));
    writeFileSync(join(cwd, "signing.json"), JSON.stringify(SIGNING));
    await run("go", ["mod", "init", "signer"], { cwd });
    const found = ["tradewire.example/client@v0.0.0", "tradewire.example/client=./client"];
    await run("go", ["mod", "edit", "-require", found[0]!, "-replace", found[1]!], { cwd });
    const given = [service.url, undecided.url, SECRET, SIGNED, foreign.url];
    const { stdout, stderr } = await run("go", ["run", ".", ...given], { cwd, timeout: 120_000 });
    const lines = stdout.split("\n");
    expect(outcomes(lines.slice(0, CHALLENGES.length).join("\n"))).toEqual(outcomes());
    expect(answersBy(lines.slice(CHALLENGES.length).join("\n"))).toEqual(answersBy());
    expect(stderr).toContain("the challenge signs in to app.bank.example");
    expect(service.calls).toEqual(["/v1/auth/challenge"]);
    expect(stderr).toContain(`${SIGNATURE} 4 <nil>\n`);
    expect(undecided.bodies).toHaveLength(undecided.answers);
    for (const status of [301, 308]) expect(stderr).toContain(`status ${status} and nothing of its own`);
    expect(undecided.strayed).toEqual([]);
    expect(undecided.hurried.length).toBeLessThan(4);
    expect(stderr).toContain("status 404 and nothing of its own");
    expect(stderr).toContain(`${SIGNATURE} <nil>\n`);
    for (const call of ["submit", "submit until decided", "get", "watch"]) {
      expect(stderr).toContain(`\n${call} <nil> UNEXPECTED_ANSWER: the answer is about another transaction`);
    }
    expect(stderr).toContain("own finalized <nil>\nown finalized <nil>\n");
    expect(stderr).toContain("/endless NOT_THE_SERVICE");
    expect(stderr).toContain("/slow NOT_THE_SERVICE");
    expect(stderr).toMatch(/\/slow-head .*(deadline exceeded|timeout)/);
    expect(stderr).toContain("endless stream the stream was cut");
    expect(stderr).toContain("/garbled stream a message of the stream is malformed");
    expect(stderr).toContain("/cut stream the stream was cut");
    expect(stderr).toContain("/early stream the stream ended before the trade was final");
    for (const path of ["failed", "empty"]) expect(stderr).toContain(`\n/${path} <nil> NOT_THE_SERVICE`);
    expect(stderr).toMatch(/^steering NO \[2J: no \]52;c;QUJD {2}x{3000,4000}$/m);
    expect(stderr).toMatch(/given up: true context deadline exceeded\n.*connection refused/);
    expect(foreign.written).toBeLessThan(60_000_000);
  } finally {
    service.close();
    undecided.close();
    foreign.close();
    rmSync(cwd, { recursive: true, force: true });
  }
});
