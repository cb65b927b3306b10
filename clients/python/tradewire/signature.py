"""Which transaction an answer is about: another trade's outcome would pass for one's own."""

from __future__ import annotations

import base64
from typing import TypeVar

from .base58 import encode58
from .transport import TradewireError

Answer = TypeVar("Answer")


class UnexpectedAnswerError(TradewireError):
    """The answer is about another transaction than the one that it was asked for."""

    def __init__(self, signature: str):
        message = (
            f"the answer is about another transaction than {signature}."
            " If you signed that one, it may have landed: look it up elsewhere"
        )
        error = {"code": "UNEXPECTED_ANSWER", "message": message, "retryable": False}
        super().__init__(200, {"success": False, "error": error})


def signature_of(signed_transaction: str) -> str:
    """The signature of a signed transaction in base64, which is its id on the chain: keep it before you submit."""
    text = signed_transaction.rstrip("=")
    wire = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if "-" in text or "_" in text else None, validate=True)
    if len(wire) > 65 and wire[0] == 1:
        return encode58(wire[1:65])
    # Version 1 has its signatures at its end.
    if len(wire) > 65 and wire[0] == 0x81:
        return encode58(wire[-64:])
    raise ValueError("not a signed transaction of one signer")


def answer_about(signature: str, answer: Answer) -> Answer:
    """The answer, if it is about the transaction of this signature. Raises UnexpectedAnswerError if it is about another."""
    found = answer.get("signature") if isinstance(answer, dict) else None
    if not found:
        raise ConnectionError("the answer is about no transaction, or is not the service's")
    if found != signature:
        raise UnexpectedAnswerError(signature)
    return answer
