"""Calls a Tradewire service over REST: it builds trades, and a Wallet signs them."""

from .challenge import check_challenge
from .client import Tradewire
from .transport import TradewireError
from .wallet import Wallet

__all__ = ["Tradewire", "TradewireError", "Wallet", "check_challenge"]
