// Buys a token for SOL, follows the trade to its end, and sells everything again.
//
//	TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> go run ./examples/trade
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	tradewire "tradewire.example/client"
)

func main() {
	ctx := context.Background()
	wallet, err := tradewire.WalletFromBase58(os.Getenv("TRADEWIRE_KEY"))
	check(err)
	client := tradewire.New(os.Getenv("TRADEWIRE_URL"), "")
	check(wallet.SignIn(ctx, client))

	mint, amount, all, most := os.Getenv("MINT"), 0.1, 100.0, 0.001
	bought, err := client.Buy(ctx, tradewire.BuyRequest{
		Mint: mint, SolAmount: &amount, Slippage: 0.05, Priority: tradewire.PriorityFast, MaxPriorityCost: &most,
	})
	check(err)
	signature := submit(ctx, client, wallet, bought.SubmissionToken, bought.UnsignedTransaction)
	for trade, err := range client.WatchTrade(ctx, signature) {
		check(err)
		if trade.Status == tradewire.TradeStatusFinalized {
			break
		}
	}
	sold, err := client.Sell(ctx, tradewire.SellRequest{
		Mint: mint, SellPercent: &all, Slippage: 0.05, Priority: tradewire.PriorityFast, MaxPriorityCost: &most,
	})
	check(err)
	submit(ctx, client, wallet, sold.SubmissionToken, sold.UnsignedTransaction)
}

func submit(ctx context.Context, client *tradewire.Client, wallet *tradewire.Wallet, token, unsigned string) string {
	signed, err := wallet.Sign(unsigned)
	check(err)
	done, err := client.SubmitUntilDecided(ctx, token, signed)
	check(err)
	if moved := done.TradeResult; moved != nil {
		fmt.Printf("%s %s: %v -> %v (%s)\n", done.Status, done.Platform, moved.InputAmount, moved.OutputAmount, done.Signature)
	} else {
		fmt.Printf("%s %s: amounts not known yet (%s)\n", done.Status, done.Platform, done.Signature)
	}
	return done.Signature
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
