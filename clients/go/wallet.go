package tradewire

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Wallet signs challenges and transactions. Its key stays in it.
type Wallet struct{ key ed25519.PrivateKey }

// WalletFromBase58 reads a secret key of 32 or 64 bytes.
func WalletFromBase58(secret string) (*Wallet, error) {
	key, err := decode58(secret)
	if err != nil || (len(key) != ed25519.SeedSize && len(key) != ed25519.PrivateKeySize) {
		return nil, errors.New("a secret key is 32 or 64 bytes in base58")
	}
	wallet := &Wallet{ed25519.NewKeyFromSeed(key[:ed25519.SeedSize])}
	if len(key) == ed25519.PrivateKeySize && !bytes.Equal(key, wallet.key) {
		return nil, errors.New("the secret key is inconsistent: its public half is another key's")
	}
	return wallet, nil
}

// Address of the wallet, in base58.
func (w *Wallet) Address() string { return encode58(w.key.Public().(ed25519.PublicKey)) }

// SignIn registers the wallet, and sets the API key of the client. It signs nothing but the service's own challenge for this wallet.
func (w *Wallet) SignIn(ctx context.Context, c *Client) error {
	challenge, err := c.CreateChallenge(ctx, CreateChallengeRequest{WalletAddress: w.Address()})
	if err != nil {
		return err
	}
	terms := ChallengeTerms{WalletAddress: w.Address(), BaseURL: c.BaseURL, Domain: c.Domain, Now: time.Now()}
	if err := CheckChallenge(challenge.Message, terms); err != nil {
		return err
	}
	signature := encode58(ed25519.Sign(w.key, []byte(challenge.Message)))
	registered, err := c.Register(ctx, RegisterRequest{WalletAddress: w.Address(), Message: challenge.Message, Signature: signature})
	if err == nil {
		c.APIKey = registered.ApiKey
	}
	return err
}

// Sign signs a built transaction, after a look at its form: this wallet alone signs and pays, and nothing is signed yet.
//
// What the instructions do is not looked at: only the TypeScript client proves that. Bound what you can lose: compare the
// estimates with a limit of your own, set maxPriorityCost, and keep in the wallet what you trade with.
func (w *Wallet) Sign(unsignedTransaction string) (string, error) {
	wire, err := base64.StdEncoding.DecodeString(unsignedTransaction)
	if err != nil {
		return "", err
	}
	if err := w.check(wire); err != nil {
		return "", err
	}
	copy(wire[1:65], ed25519.Sign(w.key, wire[65:]))
	return base64.StdEncoding.EncodeToString(wire), nil
}

// check reads one count byte, one empty signature, and the message: its version, its header, its accounts.
func (w *Wallet) check(wire []byte) error {
	if len(wire) < 65+4+33 || wire[0] != 1 || !bytes.Equal(wire[1:65], make([]byte, 64)) {
		return errors.New("not an unsigned transaction of one signer")
	}
	header := wire[65:]
	if header[0]&0x80 != 0 {
		if header[0] != 0x80 {
			return fmt.Errorf("message version %d is not supported: ask with maxTransactionVersion 0", header[0]&0x7f)
		}
		header = header[1:]
	}
	// Signers, signers that are read-only, other accounts that are read-only, then how many accounts follow.
	if header[0] != 1 || header[1] != 0 {
		return errors.New("the transaction asks for signatures besides this wallet's")
	}
	if !bytes.Equal(header[4:36], w.key.Public().(ed25519.PublicKey)) {
		return errors.New("the transaction is another wallet's")
	}
	return nil
}

// leastPause is the shortest pause between two submits, whatever the service asks for.
const leastPause = 500 * time.Millisecond

// SubmitUntilDecided sends the signed transaction until the chain has decided or ctx ends: the same bytes are one trade, however often
// they are sent. An answer about another transaction ends it with UNEXPECTED_ANSWER. SignatureOf says what to look up elsewhere after any failure.
func (c *Client) SubmitUntilDecided(ctx context.Context, submissionToken, signedTransaction string) (*SubmitResponse, error) {
	request := SubmitRequest{SubmissionToken: submissionToken, SignedTransaction: signedTransaction}
	var last error
	for {
		done, err := c.Submit(ctx, request)
		if err != nil && ctx.Err() == nil {
			last = err
		}
		var failure *Error
		if err == nil && isDecided(done.Status) {
			return done, nil
		}
		if errors.As(err, &failure) && !failure.Retryable {
			return nil, err
		}
		pause := leastPause
		if failure != nil {
			pause = max(pause, time.Duration(min(failure.RetryAfterMs, 10_000))*time.Millisecond)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), last)
		case <-time.After(pause):
		}
	}
}

// isDecided says whether the chain has decided. What is in a block that may still be dropped, or may have failed in it, is not; nor is
// what has no status, or one that is unknown here.
func isDecided(status TradeStatus) bool {
	switch status {
	case TradeStatusConfirmed, TradeStatusFinalized, TradeStatusFailed, TradeStatusExpired:
		return true
	}
	return false
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

func decode58(text string) ([]byte, error) {
	number, base := new(big.Int), big.NewInt(58)
	leading := 0
	for i, character := range text {
		digit := bytes.IndexRune([]byte(alphabet), character)
		if digit < 0 {
			return nil, errors.New("not base58")
		}
		if digit == 0 && i == leading {
			leading++
		}
		number.Add(number.Mul(number, base), big.NewInt(int64(digit)))
	}
	return append(make([]byte, leading), number.Bytes()...), nil
}
