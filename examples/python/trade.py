"""Buys a token for SOL over REST, and sells everything again.

    pip install cryptography
    TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> python trade.py
"""

import base64
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SERVICE = os.environ["TRADEWIRE_URL"]
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def encode58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def decode58(text: str) -> bytes:
    number = 0
    for character in text:
        number = number * 58 + ALPHABET.index(character)
    leading = len(text) - len(text.lstrip("1"))
    return bytes(leading) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def reason_of(refused: urllib.error.HTTPError) -> str | None:
    """The service's own words; None of a page that is not its own, which says nothing of what became of the call."""
    try:
        error = json.load(refused)["error"]
        return f"{error['code']}: {error['message']}"
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return None


def call(path: str, body: dict, api_key: str = "") -> dict:
    """Asks again after a lost connection, a proxy's own page, 429 and 503: a submit that is repeated stays one trade."""
    headers = {"content-type": "application/json"}
    if api_key:
        headers["authorization"] = f"Bearer {api_key}"
    request = urllib.request.Request(SERVICE + path, json.dumps(body).encode(), headers)
    for pause in (1, 2, 4, 8, 0):
        try:
            with urllib.request.urlopen(request, timeout=40) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as refused:
            reason = reason_of(refused)
            if reason is not None and refused.code not in (429, 503):
                sys.exit(reason)
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as lost:
            reason = f"no answer: {lost}"
        if pause == 0:
            sys.exit(reason or "no answer of the service")
        time.sleep(pause)
    raise AssertionError


def register(key: Ed25519PrivateKey) -> str:
    """Signs a challenge and gets an API key for the wallet."""
    wallet = encode58(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    message = call("/v1/auth/challenge", {"walletAddress": wallet})["message"]
    proof = {"walletAddress": wallet, "message": message, "signature": encode58(key.sign(message.encode()))}
    return call("/v1/auth/register", proof)["apiKey"]


def trade(path: str, order: dict, key: Ed25519PrivateKey, api_key: str) -> None:
    """Builds, signs and submits. The signature goes into the one slot before the message; nothing else changes."""
    built = call(path, order, api_key)
    wire = bytearray(base64.b64decode(built["unsignedTransaction"]))
    wire[1:65] = key.sign(bytes(wire[65:]))
    signed = {"submissionToken": built["submissionToken"], "signedTransaction": base64.b64encode(wire).decode()}
    done = call("/v1/tx/submit", signed, api_key)
    while done["status"] in ("pending", "processed"):  # not decided within 25 s: the same bytes may be sent again, and stay one trade
        time.sleep(1)
        done = call("/v1/tx/submit", signed, api_key)
    moved = done["tradeResult"]
    amounts = f"{moved['inputAmount']} -> {moved['outputAmount']}" if moved else "amounts not known yet"
    print(f"{done['status']} {done['platform']}: {amounts} ({done['signature']})")


def main() -> None:
    key = Ed25519PrivateKey.from_private_bytes(decode58(os.environ["TRADEWIRE_KEY"])[:32])
    api_key = register(key)
    terms = {"mint": os.environ["MINT"], "slippage": 0.05, "priority": "fast"}
    trade("/v1/tx/buy", {**terms, "solAmount": 0.1}, key, api_key)
    trade("/v1/tx/sell", {**terms, "sellPercent": 100}, key, api_key)


main()
