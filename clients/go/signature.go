package tradewire

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
)

// SignatureOf is the signature of a signed transaction in base64, which is its id on the chain: keep it before you submit.
func SignatureOf(signedTransaction string) (string, error) {
	text := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(signedTransaction), "=")
	wire, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	switch {
	case len(wire) > 65 && wire[0] == 1:
		return encode58(wire[1:65]), nil
	case len(wire) > 65 && wire[0] == 0x81:
		// Version 1 has its signatures at its end.
		return encode58(wire[len(wire)-64:]), nil
	}
	return "", errors.New("not a signed transaction of one signer")
}

// tradeAnswer is an answer about one transaction.
type tradeAnswer interface{ transaction() string }

func (r *SubmitResponse) transaction() string     { return r.Signature }
func (r *GetTradeResponse) transaction() string   { return r.Signature }
func (r *WatchTradeResponse) transaction() string { return r.Signature }

// checkTrade fails unless the answer is about this transaction: another trade's outcome would pass for it.
func checkTrade(answer tradeAnswer, signature string) error {
	switch answer.transaction() {
	case signature:
		return nil
	case "":
		return &Error{Code: "NOT_THE_SERVICE", Message: "the answer is about no transaction", Retryable: true}
	}
	message := fmt.Sprintf("the answer is about another transaction than %s. If you signed that one, it may have landed: look it up elsewhere", signature)
	return &Error{Code: "UNEXPECTED_ANSWER", Message: message}
}

// callSigned makes a call about a signed transaction.
func callSigned[T any](ctx context.Context, c *Client, signed, verb, path string, query url.Values, body any) (*T, error) {
	signature, err := SignatureOf(signed)
	if err != nil {
		return nil, &Error{Code: "NOT_SIGNED", Message: err.Error()}
	}
	return callTrade[T](ctx, c, signature, verb, path, query, body)
}

// callTrade makes a call about the transaction of this signature.
func callTrade[T any](ctx context.Context, c *Client, signature, verb, path string, query url.Values, body any) (*T, error) {
	answer, err := call[T](ctx, c, verb, path, query, body)
	if err != nil {
		return nil, err
	}
	if err := checkTrade(any(answer).(tradeAnswer), signature); err != nil {
		return nil, err
	}
	return answer, nil
}

// streamTrade streams messages about the transaction of this signature until it is final.
func streamTrade[T any](ctx context.Context, c *Client, signature, verb, path string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		isFinal := false
		for message, err := range stream[T](ctx, c, verb, path, query) {
			if err == nil {
				err = checkTrade(any(message).(tradeAnswer), signature)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			watched, isWatched := any(message).(*WatchTradeResponse)
			isFinal = isWatched && watched.Status == TradeStatusFinalized
			if !yield(message, nil) {
				return
			}
		}
		if !isFinal {
			yield(nil, errors.New("the stream ended before the trade was final, open it again"))
		}
	}
}
