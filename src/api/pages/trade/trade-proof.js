// The proof of a build: the client library's verifier, on the bytes that the wallet is asked to sign.

import {
  Address,
  describeProblem,
  expectTrade,
  explainTransaction,
  findProblems,
  lookupTablesOf,
  readTransaction,
} from "/assets/modules/client/entry/verify.js";
import { isBoundGross, mayCutOutput } from "/assets/modules/client/proof/transfer-fee.js";
import { sol, toWords } from "../shared/amounts.js";
import { call, element, ownTimeMs } from "../shared/page.js";
import { signTransaction } from "../shared/wallets.js";
import { lostToFit } from "./quote-view.js";

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

/**
 * Builds an order and reads what came back. `sign` asks the wallet for exactly the bytes that were verified.
 * @throws Error with a message for the user if there is nothing to sign
 */
export async function verifyBuild(session, order, priority, tokens) {
  const { apiKey } = session;
  let built = await request(order, priority, apiKey);
  let wire = bytesOf(built.unsignedTransaction);
  if (lookupTablesOf(wire).length > 0) {
    // What such a table holds would be the service's word: one market needs none.
    built = await request({ ...order, directOnly: true }, priority, apiKey);
    wire = bytesOf(built.unsignedTransaction);
  }
  return judge({ session, order, tokens, built, wire }, []);
}

/** A tip to an account that is none of those known for it: the verifier's words, which name the account beside them. */
const TIP_ELSEWHERE = /^it transfers [\d.]+ SOL to an account outside this trade$/;

/**
 * Holds a build against its order.
 * @param tipAccounts accounts that the user lets the tip go to, beside the known ones
 */
function judge(made, tipAccounts) {
  const { session, order, tokens, built, wire } = made;
  const { address } = session.account;
  const decimals = { input: tokens.decimals(order.inputMint), output: tokens.decimals(order.outputMint) };
  // The user sees what leaves at most, and decides.
  const expect = (tipAccounts) =>
    expectTrade(Address.parse(address), order, built, { decimals, tipAccounts }, "caller");
  const transaction = readTransaction(wire);
  const expected = expect(tipAccounts);
  const problems = findProblems(transaction, expected);
  const { lines } = explainTransaction(wire);
  const refused = problems.length > 0;
  const tips = problems.filter(({ reason }) => TIP_ELSEWHERE.test(reason)).map(({ account }) => String(account));
  // Offered only if nothing else is wrong once it is allowed: the amount is then the announced tip, below the cap.
  const isTipAlone = tips.length > 0 && findProblems(transaction, expect(tips)).length === 0;
  return {
    built,
    order,
    wire,
    refused,
    expected,
    facts: boundsOf(
      built,
      { ...expected, isGross: isBoundGross(transaction, expected), isCut: mayCutOutput(transaction) },
      order,
      tokens,
    ),
    lines: checksOf(lines, problems, address),
    verdict: isTipAlone
      ? `Not signed: the tip of ${sol(built.costs.tip)} goes to ${tips.join(", ")}, which is none of the eight accounts known to take tips for block producers. If the operator of this service names it as a relay's, allow it for this trade; or go back and choose a priority without a tip.`
      : refused
        ? `Not signed: ${problems.map(describeProblem).join("; ")}`
        : `Every instruction is part of your trade, and nothing else is${tipAccounts.length === 0 ? "" : ", with the tip you allowed"}. Sign before ${new Date(ownTimeMs(Date.parse(built.expiresAt))).toLocaleTimeString()}.`,
    allowTip: isTipAlone ? () => judge(made, tips) : undefined,
    sign: () => signTransaction(session.wallet, session.account, wire, session.network),
  };
}

/** A build with its worst case; without it if this key, or all callers together, have asked for too many. */
async function request(order, priority, apiKey) {
  const build = (more) => call("POST", "/v1/tx/swap", { apiKey, body: { ...order, priority, ...more } });
  try {
    return await build({ worstCase: true });
  } catch (error) {
    if (!["RATE_LIMIT_EXCEEDED", "OVERLOADED"].includes(error.code)) throw error;
    return build({});
  }
}

/** One line for the message and one for each instruction; a line at fault says why. */
function checksOf(lines, problems, wallet) {
  const byInstruction = new Map();
  for (const problem of problems) {
    const at = problem.instruction ?? 0;
    byInstruction.set(at, [...(byInstruction.get(at) ?? []), problem.reason]);
  }
  return lines.map((line) => {
    const number = Number(/^(\d+)\. /.exec(line)?.[1] ?? 0);
    const faults = byInstruction.get(number) ?? [];
    const text = line
      .replace(/^\d+\. /, "")
      .replaceAll(wallet, "your wallet")
      .replace(/^your/, "Your");
    return element("li", { class: faults.length > 0 && "bad" }, [text, ...faults].join(" — "));
  });
}

/** Some venues compare the least output before a fee of the mint's own, which only the mint's account shows. */
const ALL_LEFT = ", if the curve has that much left, which is the service's word";
const NO_FEE = ", if the token takes no fee when it arrives, which is the service's word";

function boundsOf(
  { costs, priorityCost, estimates, proof },
  { mode, amount, threshold, isGross, isCut },
  { inputMint, outputMint },
  tokens,
) {
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  const words = (raw, mint) => {
    const decimals = tokens.decimals(mint);
    return decimals === undefined
      ? `${raw} base units of ${tokens.name(mint)}`
      : `${toWords(raw, decimals)} ${tokens.name(mint)}`;
  };
  const markets = estimates.worstCase?.markets ?? [];
  const rows = [
    row("Leaves your wallet", `at most ${words(mostIn, inputMint)}`),
    row("Arrives", `at least ${words(leastOut, outputMint)}${isCut ? ALL_LEFT : ""}${isGross ? NO_FEE : ""}`),
    ...markets.map((market) => row("Trades around yours", attackIn(market, words))),
    row("Quote checked", backingOf(proof)),
    ...(estimates.fitLoss > 0 ? [row("Better, but too large", lostToFit(estimates.fitLoss))] : []),
    row("Network fee", sol(costs.baseFee)),
    row("Priority", `${sol(BigInt(Math.round(priorityCost * 1e9)))}`),
    row(
      "Rent for new accounts",
      costs.rentPaid === "0" ? "none" : `${sol(costs.rentPaid)}, yours again when they close`,
    ),
  ];
  if (costs.rentReturned !== "0") rows.push(row("Rent returned", sol(costs.rentReturned)));
  return rows.flat();
}

/** What somebody could take who buys on this market before the trade and sells there after it, as the service computes it. */
function attackIn({ venue, attack, takenRaw, inputMint, reason }, words) {
  if (attack === "profitable") return `could take up to ${words(takenRaw, inputMint)} on ${venue}`;
  if (attack === "unprofitable") return `gain nothing on ${venue}`;
  return `${attack === "impossible" ? "cannot be made" : "are not computed"} on ${venue}${reason == null ? "" : `: ${reason}`}`;
}

/** How the quote is backed: what its markets do was computed by running the deployed programs, or it was not. */
function backingOf(proof) {
  return proof?.checked
    ? `on the deployed programs, at slot ${proof.shadowSlot}, says the service`
    : "not by running the programs deployed now";
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
