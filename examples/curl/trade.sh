#!/usr/bin/env bash
# Buys a token for SOL over REST, and sells everything again, with curl, openssl, jq, xxd and bc.
#
#   TRADEWIRE_URL=http://127.0.0.1:8080 KEY_PEM=key.pem MINT=<mint> ./trade.sh
#
# A key to try with:   openssl genpkey -algorithm ed25519 -out key.pem
# Its address:         ADDRESS_ONLY=1 KEY_PEM=key.pem ./trade.sh
set -euo pipefail
export LC_ALL=C

base58() { # hexadecimal on standard input, base58 on standard output; bc does the arithmetic
  local hex alphabet=123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz text="" digit
  hex=$(tr -d '\n' | tr a-f A-F)
  for digit in $(echo "obase=58; ibase=16; $hex" | BC_LINE_LENGTH=0 bc); do text+=${alphabet:10#$digit:1}; done
  while [[ $hex == 00* ]]; do text=1$text; hex=${hex:2}; done
  printf %s "$text"
}

sign() { # file to sign → 64 raw bytes on standard output
  openssl pkeyutl -sign -inkey "$KEY_PEM" -rawin -in "$1"
}

call() { # path, JSON → the answer's data; anything else ends the script with the reason
  local answer
  # A lost connection, 429 and 503 are tried again: a submit that is repeated stays one trade.
  curl -sS --retry 5 --retry-all-errors --max-time 40 -o "$work/answer" "$TRADEWIRE_URL$1" \
    -H 'content-type: application/json' ${API_KEY:+-H "authorization: Bearer $API_KEY"} -d "$2" || exit 1
  answer=$(<"$work/answer")
  if [[ $(jq -r .success <<<"$answer") != true ]]; then jq -r '"\(.error.code): \(.error.message)"' <<<"$answer" >&2; exit 1; fi
  jq -c .data <<<"$answer"
}

trade() { # path, order: builds, signs the message behind the empty signature, submits
  local built submission done
  built=$(call "$1" "$2")
  jq -r .unsignedTransaction <<<"$built" | base64 -d >"$work/wire"
  tail -c +66 "$work/wire" >"$work/message"
  { head -c 1 "$work/wire"; sign "$work/message"; cat "$work/message"; } >"$work/signed"
  submission=$(jq -n --arg token "$(jq -r .submissionToken <<<"$built")" \
    --arg signed "$(base64 -w 0 "$work/signed")" '{submissionToken: $token, signedTransaction: $signed}')
  done=$(call /v1/tx/submit "$submission")
  # Not decided within 25 s: the same bytes may be sent again, and stay one trade.
  while [[ $(jq -r .status <<<"$done") =~ ^(pending|processed)$ ]]; do sleep 1; done=$(call /v1/tx/submit "$submission"); done
  jq -r '(.tradeResult | if . then "\(.inputAmount) -> \(.outputAmount)" else "amounts not known yet" end) as $amounts
    | "\(.status) \(.platform): \($amounts) (\(.signature))"' <<<"$done"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wallet=$(openssl pkey -in "$KEY_PEM" -pubout -outform DER | tail -c 32 | xxd -p -c 64 | base58)
if [[ -n ${ADDRESS_ONLY:-} ]]; then echo "$wallet"; exit; fi

API_KEY=""
message=$(call /v1/auth/challenge "$(jq -n --arg wallet "$wallet" '{walletAddress: $wallet}')" | jq -r .message)
printf %s "$message" >"$work/challenge"
signature=$(sign "$work/challenge" | xxd -p -c 64 | base58)
API_KEY=$(call /v1/auth/register "$(jq -n --arg wallet "$wallet" --arg message "$message" --arg signature "$signature" \
  '{walletAddress: $wallet, message: $message, signature: $signature}')" | jq -r .apiKey)

trade /v1/tx/buy "$(jq -n --arg mint "$MINT" '{mint: $mint, solAmount: 0.1, slippage: 0.05, priority: "fast"}')"
trade /v1/tx/sell "$(jq -n --arg mint "$MINT" '{mint: $mint, sellPercent: 100, slippage: 0.05, priority: "fast"}')"
