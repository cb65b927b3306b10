// Package tradewire calls a Tradewire service over REST: it builds trades, and a Wallet signs them. It needs nothing but Go.
package tradewire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Client calls one service. It may be used by several goroutines at once.
type Client struct {
	// BaseURL of the service, without a slash at its end.
	BaseURL string
	// APIKey from Register; empty for calls that need none.
	APIKey string
	// Domain is the service's host in its challenges, if it is not that of BaseURL.
	Domain string
	// HTTP sends the requests.
	HTTP *http.Client
	// Timeout of a call, its whole answer included; 0 is 40 seconds, which is longer than a submit takes. Streams go on.
	Timeout time.Duration
}

const (
	defaultTimeout = 40 * time.Second
	// mostBytes of an answer, or of one message of a stream, are read: one without end would fill the memory.
	mostBytes = 4 << 20
	// mostOfMessage of a failure are kept, in bytes: more of it would fill a log.
	mostOfMessage = 4_000
)

// New makes a client. It follows no redirect: trades and keys would go with it, to whoever it names.
func New(baseURL, apiKey string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = defaultTimeout
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: transport, CheckRedirect: stay}
	return &Client{BaseURL: strings.TrimSuffix(baseURL, "/"), APIKey: apiKey, HTTP: client}
}

// Error is a failure that the service reports. Its code is explained at DocURL.
type Error struct {
	Code          string         `json:"code"`
	Message       string         `json:"message"`
	Retryable     bool           `json:"retryable"`
	SafeToRebuild *bool          `json:"safeToRebuild"`
	Field         string         `json:"field"`
	RetryAfterMs  int64          `json:"retryAfterMs"`
	Details       map[string]any `json:"details"`
	DocURL        string         `json:"doc_url"`
	RequestID     string         `json:"-"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

type envelope struct {
	Success   *bool           `json:"success"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"requestId"`
	Error     *Error          `json:"error"`
}

func (e envelope) says(success bool) bool { return e.Success != nil && *e.Success == success }

func (e envelope) failure(status int) error {
	if !e.says(false) || e.Error == nil || e.Error.Code == "" {
		// A proxy's own page, such as 502, or a cut answer says nothing of what became of the call. Others will not change. Such a
		// page may be JSON with an error of its own form. Nor will an address that moved for good.
		mayChange := status < 400 || status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
		if status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect {
			mayChange = false
		}
		message := fmt.Sprintf("the service answered with status %d and nothing of its own", status)
		return &Error{Code: "NOT_THE_SERVICE", Message: message, Retryable: mayChange}
	}
	e.Error.RequestID = e.RequestID
	e.Error.Code, e.Error.Message = printable(e.Error.Code), printable(e.Error.Message)
	return e.Error
}

// printable is text of the service, cut, without characters that write to a terminal or reorder text: a log prints it as it is.
func printable(text string) string {
	return strings.Map(func(each rune) rune {
		if unicode.IsPrint(each) {
			return each
		}
		return ' '
	}, text[:min(len(text), mostOfMessage)])
}

func send(ctx context.Context, c *Client, verb, path string, query url.Values, body any) (*http.Response, error) {
	target := c.BaseURL + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, verb, target, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.APIKey)
	}
	return c.HTTP.Do(request)
}

func call[T any](ctx context.Context, c *Client, verb, path string, query url.Values, body any) (*T, error) {
	limit := c.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := send(ctx, c, verb, path, query, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var got envelope
	if err := json.NewDecoder(io.LimitReader(response.Body, mostBytes)).Decode(&got); err != nil || !got.says(true) || !bytes.HasPrefix(got.Data, []byte("{")) {
		return nil, got.failure(response.StatusCode)
	}
	data := new(T)
	return data, json.Unmarshal(got.Data, data)
}

// stream yields the messages of server-sent events until they end. Leaving the loop closes the stream.
func stream[T any](ctx context.Context, c *Client, verb, path string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		response, err := send(ctx, c, verb, path, query, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			var got envelope
			_ = json.NewDecoder(io.LimitReader(response.Body, mostBytes)).Decode(&got)
			yield(nil, got.failure(response.StatusCode))
			return
		}
		event := ""
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, mostBytes)
		for lines.Scan() {
			line := lines.Text()
			if name, is := strings.CutPrefix(line, "event: "); is {
				event = name
				continue
			}
			data, is := strings.CutPrefix(line, "data: ")
			if !is {
				continue
			}
			switch event {
			case "end":
				return
			case "error":
				var got envelope
				_ = json.Unmarshal([]byte(data), &got)
				yield(nil, got.failure(response.StatusCode))
				return
			}
			message := new(T)
			if err := json.Unmarshal([]byte(data), message); err != nil {
				yield(nil, fmt.Errorf("a message of the stream is malformed, open it again: %w", err))
				return
			}
			if !yield(message, nil) {
				return
			}
		}
		err = lines.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		yield(nil, fmt.Errorf("the stream was cut, open it again: %w", err))
	}
}
