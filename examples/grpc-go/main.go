// Asks a service for its priority levels over gRPC, with a typed client generated from proto.
//
//	npx buf generate
//	TRADEWIRE_URL=http://127.0.0.1:8080 go run .
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"
	tradewirev1 "tradewire.example/api/tradewire/v1"
	"tradewire.example/api/tradewire/v1/tradewirev1connect"
)

func main() {
	// gRPC needs HTTP/2; a service on plain HTTP speaks it without TLS.
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}

	trades := tradewirev1connect.NewTradeServiceClient(client, os.Getenv("TRADEWIRE_URL"), connect.WithGRPC())
	response, err := trades.GetPriority(context.Background(), connect.NewRequest(&tradewirev1.GetPriorityRequest{}))
	if err != nil {
		log.Fatal(err)
	}
	for _, level := range response.Msg.GetLevels() {
		fmt.Println(level.GetPriority(), level.GetExpectedCost())
	}
}
