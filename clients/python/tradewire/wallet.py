"""A wallet: signs challenges and transactions. Its key stays in it."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .base58 import decode58, encode58


class Wallet:
    """An Ed25519 key."""

    def __init__(self, secret: str):
        """`secret`: 32 or 64 bytes in base58."""
        key = decode58(secret)
        if len(key) not in (32, 64):
            raise ValueError("a secret key is 32 or 64 bytes in base58")
        self._key = Ed25519PrivateKey.from_private_bytes(key[:32])
        self._public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        if key[32:] not in (b"", self._public):
            raise ValueError("the secret key is inconsistent: its public half is another key's")

    @property
    def address(self) -> str:
        return encode58(self._public)

    def sign_text(self, text: str) -> str:
        return encode58(self._key.sign(text.encode()))

    def sign(self, unsigned_transaction: str) -> str:
        """Signs a built transaction, after a look at its form: this wallet alone signs and pays, and nothing is signed yet.

        What the instructions do is not looked at: only the TypeScript client proves that. Bound what you can lose: compare the
        estimates with a limit of your own, set maxPriorityCost, and keep in the wallet what you trade with.
        """
        if not isinstance(unsigned_transaction, str):
            raise ValueError("not an unsigned transaction in base64")
        wire = bytearray(base64.b64decode(unsigned_transaction, validate=True))
        self._check(wire)
        wire[1:65] = self._key.sign(bytes(wire[65:]))
        return base64.b64encode(wire).decode()

    def _check(self, wire: bytearray) -> None:
        """One count byte, one empty signature, and the message: its version, its header, its accounts."""
        if len(wire) < 65 + 4 + 33 or wire[0] != 1 or any(wire[1:65]):
            raise ValueError("not an unsigned transaction of one signer")
        header = wire[65:]
        if header[0] & 0x80:
            if header[0] != 0x80:
                raise ValueError(f"message version {header[0] & 0x7F} is not supported: ask with maxTransactionVersion 0")
            header = header[1:]
        # Signers, signers that are read-only, other accounts that are read-only, then how many accounts follow.
        if header[0] != 1 or header[1] != 0:
            raise ValueError("the transaction asks for signatures besides this wallet's")
        if header[4:36] != self._public:
            raise ValueError("the transaction is another wallet's")
