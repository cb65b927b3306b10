"""Buys a token for SOL, follows the trade to its end, and sells everything again.

    TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> python examples/trade.py
"""

import os

from tradewire import Tradewire, Wallet

wallet = Wallet(os.environ["TRADEWIRE_KEY"])
client = Tradewire(os.environ["TRADEWIRE_URL"])
client.sign_in(wallet)
terms = {"mint": os.environ["MINT"], "slippage": 0.05, "priority": "fast", "maxPriorityCost": 0.001}


def submit(built) -> str:
    done = client.submit_until_decided(built["submissionToken"], wallet.sign(built["unsignedTransaction"]))
    moved = done["tradeResult"]
    amounts = f"{moved['inputAmount']} -> {moved['outputAmount']}" if moved else "amounts not known yet"
    print(f"{done['status']} {done['platform']}: {amounts} ({done['signature']})")
    return done["signature"]


signature = submit(client.buy({**terms, "solAmount": 0.1}))
for trade in client.watch_trade(signature):
    if trade["status"] == "finalized":
        break
submit(client.sell({**terms, "sellPercent": 100}))
