"""Calls a Tradewire service over REST: it builds trades, and a Wallet signs them."""

from .challenge import check_challenge
from .client import Tradewire
from .signature import UnexpectedAnswerError, signature_of
from .transport import TradewireError
from .wallet import Wallet

__all__ = ["Tradewire", "TradewireError", "UnexpectedAnswerError", "Wallet", "check_challenge", "signature_of"]
