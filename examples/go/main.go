// Buys a token for SOL over REST, and sells everything again. It needs nothing but Go.
//
//	TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> go run .
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"time"
)

var service = os.Getenv("TRADEWIRE_URL")
var client = &http.Client{Timeout: 40 * time.Second}

type answer struct {
	Success bool            `json:"success"`
	Data    json.RawMessage `json:"data"`
	Error   struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type built struct {
	SubmissionToken     string `json:"submissionToken"`
	UnsignedTransaction string `json:"unsignedTransaction"`
	Platform            string `json:"platform"`
}

type submitted struct {
	Signature   string `json:"signature"`
	Status      string `json:"status"`
	TradeResult *struct {
		InputAmount  float64 `json:"inputAmount"`
		OutputAmount float64 `json:"outputAmount"`
	} `json:"tradeResult"`
}

func main() {
	key := ed25519.NewKeyFromSeed(decode58(os.Getenv("TRADEWIRE_KEY"))[:ed25519.SeedSize])
	wallet := encode58(key.Public().(ed25519.PublicKey))
	apiKey := register(wallet, key)

	mint := os.Getenv("MINT")
	trade(apiKey, key, "/v1/tx/buy", map[string]any{"mint": mint, "solAmount": 0.1, "slippage": 0.05, "priority": "fast"})
	trade(apiKey, key, "/v1/tx/sell", map[string]any{"mint": mint, "sellPercent": 100, "slippage": 0.05, "priority": "fast"})
}

// register signs a challenge and gets an API key for the wallet.
func register(wallet string, key ed25519.PrivateKey) string {
	var challenge struct {
		Message string `json:"message"`
	}
	call("", "/v1/auth/challenge", map[string]any{"walletAddress": wallet}, &challenge)
	var registered struct {
		APIKey string `json:"apiKey"`
	}
	signature := encode58(ed25519.Sign(key, []byte(challenge.Message)))
	call("", "/v1/auth/register", map[string]any{
		"walletAddress": wallet, "message": challenge.Message, "signature": signature,
	}, &registered)
	return registered.APIKey
}

// trade builds, signs and submits. The signature goes into the one slot before the message; nothing else changes.
func trade(apiKey string, key ed25519.PrivateKey, path string, order map[string]any) {
	var unsigned built
	call(apiKey, path, order, &unsigned)
	wire, err := base64.StdEncoding.DecodeString(unsigned.UnsignedTransaction)
	check(err)
	copy(wire[1:65], ed25519.Sign(key, wire[65:]))
	var done submitted
	signed := map[string]any{
		"submissionToken": unsigned.SubmissionToken, "signedTransaction": base64.StdEncoding.EncodeToString(wire),
	}
	call(apiKey, "/v1/tx/submit", signed, &done)
	for done.Status == "pending" || done.Status == "processed" { // not decided within 25 s: the same bytes may be sent again, and stay one trade
		time.Sleep(time.Second)
		call(apiKey, "/v1/tx/submit", signed, &done)
	}
	amounts := "amounts not known yet"
	if moved := done.TradeResult; moved != nil {
		amounts = fmt.Sprintf("%v -> %v", moved.InputAmount, moved.OutputAmount)
	}
	fmt.Printf("%s %s: %s (%s)\n", done.Status, unsigned.Platform, amounts, done.Signature)
}

// call asks again after a lost connection, 429 and 503: a submit that is repeated stays one trade.
func call(apiKey, path string, body map[string]any, data any) {
	text, err := json.Marshal(body)
	check(err)
	for pause := time.Second; ; pause *= 2 {
		isLast := pause > 8*time.Second
		got, status, err := post(apiKey, path, text)
		if err == nil && got.Success {
			check(json.Unmarshal(got.Data, data))
			return
		}
		if isLast || err == nil && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
			check(err)
			fmt.Fprintf(os.Stderr, "%s: %s\n", got.Error.Code, got.Error.Message)
			os.Exit(1)
		}
		time.Sleep(pause)
	}
}

// post sends one request. The error says that no whole answer came.
func post(apiKey, path string, body []byte) (got answer, status int, err error) {
	request, err := http.NewRequest(http.MethodPost, service+path, bytes.NewReader(body))
	check(err)
	request.Header.Set("content-type", "application/json")
	if apiKey != "" {
		request.Header.Set("authorization", "Bearer "+apiKey)
	}
	response, err := client.Do(request)
	if err != nil {
		return got, 0, err
	}
	defer response.Body.Close()
	return got, response.StatusCode, json.NewDecoder(response.Body).Decode(&got)
}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func encode58(data []byte) string {
	number, base, digit := new(big.Int).SetBytes(data), big.NewInt(58), new(big.Int)
	var text []byte
	for number.Sign() > 0 {
		number.DivMod(number, base, digit)
		text = append([]byte{alphabet[digit.Int64()]}, text...)
	}
	for _, b := range data {
		if b != 0 {
			break
		}
		text = append([]byte{'1'}, text...)
	}
	return string(text)
}

func decode58(text string) []byte {
	number, base := new(big.Int), big.NewInt(58)
	leading := 0
	for i, character := range text {
		digit := bytes.IndexRune([]byte(alphabet), character)
		if digit < 0 {
			check(fmt.Errorf("TRADEWIRE_KEY is not base58"))
		}
		if digit == 0 && i == leading {
			leading++
		}
		number.Add(number.Mul(number, base), big.NewInt(int64(digit)))
	}
	data := append(make([]byte, leading), number.Bytes()...)
	if len(data) != 32 && len(data) != 64 {
		check(fmt.Errorf("TRADEWIRE_KEY is not 32 or 64 bytes"))
	}
	return data
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
