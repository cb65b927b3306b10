"""The client: every call of the API, and the steps that take several."""

from __future__ import annotations

import time
from typing import Iterator, Optional

from .api import Calls, GetTradeResponse, RegisterRequest, SubmitRequest, SubmitResponse, WatchTradeResponse
from .challenge import check_challenge
from .signature import answer_about, signature_of
from .transport import TradewireError
from .wallet import Wallet

# What is in a block that may still be dropped, or may have failed in it, is not decided; nor is what has no status, or an unknown one.
_DECIDED = ("confirmed", "finalized", "failed", "expired")
# How long a submit is repeated: the chain decides well within it. Seconds.
PATIENCE = 120


def _pause_of(asked_ms: object) -> float:
    """Seconds to wait if the service asks for this many milliseconds: between half a second and ten, and half a second for what is no time."""
    return max(0.5, min(asked_ms, 10_000) / 1000) if isinstance(asked_ms, (int, float)) else 0.5


def _text_of(value: object) -> str:
    """What an answer has to have as a text."""
    if not isinstance(value, str) or value == "":
        raise ConnectionError("the answer has no such text, or is not the service's")
    return value


class Tradewire(Calls):
    """Calls one service."""

    def sign_in(self, wallet: Wallet, label: str = "", domain: Optional[str] = None) -> str:
        """Registers the wallet; sets and returns the API key. Signs nothing but the service's own challenge for this wallet.

        `domain`: the service's host in its challenges, if it is not that of its URL.
        """
        message = _text_of(self.create_challenge({"walletAddress": wallet.address}).get("message"))
        check_challenge(message, wallet.address, self.base_url, domain)
        signature = wallet.sign_text(message)
        proof: RegisterRequest = {"walletAddress": wallet.address, "message": message, "signature": signature, "label": label}
        self.api_key = _text_of(self.register(proof).get("apiKey"))
        return self.api_key

    def submit(self, request: SubmitRequest) -> SubmitResponse:
        """As `Calls.submit`. Raises UnexpectedAnswerError if the answer is about another transaction."""
        return answer_about(signature_of(request["signedTransaction"]), super().submit(request))

    def get_trade(self, signature: str) -> GetTradeResponse:
        """As `Calls.get_trade`. Raises UnexpectedAnswerError if the answer is about another transaction."""
        return answer_about(signature, super().get_trade(signature))

    def watch_trade(self, signature: str, *, seconds: Optional[float] = None) -> Iterator[WatchTradeResponse]:
        """As `Calls.watch_trade`. Raises UnexpectedAnswerError once a message is about another transaction."""
        status = None
        for message in super().watch_trade(signature, seconds=seconds):
            status = answer_about(signature, message).get("status")
            yield message
        if status != "finalized":
            raise ConnectionError("the stream ended before the trade was final: open it again")

    def submit_until_decided(self, submission_token: str, signed_transaction: str) -> SubmitResponse:
        """Sends the signed transaction until the chain has decided: the same bytes are one trade, however often they are sent.

        Raises TimeoutError after two minutes: it may still land, and sending it again is safe. An answer about another transaction
        raises UnexpectedAnswerError. After any failure, `signature_of` says what to look up elsewhere.
        """
        signature = signature_of(signed_transaction)
        until = time.monotonic() + PATIENCE
        last: Optional[Exception] = None
        while True:
            pause = 0.5
            try:
                done = self.submit({"submissionToken": submission_token, "signedTransaction": signed_transaction})
                if isinstance(done, dict) and done.get("status") in _DECIDED:
                    return done
            except TradewireError as error:
                if not error.retryable:
                    raise
                pause = _pause_of(error.retry_after_ms)
                last = error
            except OSError as lost:  # Late or cut, in TLS too.
                last = lost
            if time.monotonic() + pause > until:
                raise TimeoutError(f"not decided within {PATIENCE} seconds: {signature} may still land, look it up") from last
            time.sleep(pause)
