"""Buys a token for SOL, follows the trade to its end, and sells everything again.

    TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> python examples/trade.py
"""

import os

from tradewire import Tradewire, Wallet
from tradewire.api import BuyResponse, SellResponse

wallet = Wallet(os.environ["TRADEWIRE_KEY"])
client = Tradewire(os.environ["TRADEWIRE_URL"])
client.sign_in(wallet)
mint = os.environ["MINT"]


def submit(built: BuyResponse | SellResponse) -> str:
    done = client.submit_until_decided(built["submissionToken"], wallet.sign(built["unsignedTransaction"]))
    moved = done["tradeResult"]
    amounts = f"{moved['inputAmount']} -> {moved['outputAmount']}" if moved else "amounts not known yet"
    print(f"{done['status']} {done['platform']}: {amounts} ({done['signature']})")
    return done["signature"]


signature = submit(client.buy({"mint": mint, "solAmount": 0.1, "slippage": 0.05, "priority": "fast", "maxPriorityCost": 0.001}))
for trade in client.watch_trade(signature):
    if trade["status"] == "finalized":
        break
submit(client.sell({"mint": mint, "sellPercent": 100, "slippage": 0.05, "priority": "fast", "maxPriorityCost": 0.001}))
