package tradewire

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// ChallengeTerms is what a challenge must be for.
type ChallengeTerms struct {
	WalletAddress string
	// BaseURL of the service that the caller chose.
	BaseURL string
	// Domain is the host of the service, with its port if it has one, if it is not that of BaseURL.
	Domain string
	Now    time.Time
}

const (
	longestLife = 15 * time.Minute
	// Clocks of callers are off by up to an hour; a challenge of yesterday is a replay.
	longestSkew = 2 * time.Hour
)

var (
	// Anything else could be a login for another site, or words put into the owner's mouth.
	template = regexp.MustCompile(`^(\S+) wants you to sign in with your Solana account:\n(\S+)\n\n` +
		`Sign to prove this wallet is yours and receive an API key\. This moves no funds and costs nothing\.\n\n` +
		`URI: (\S+)\nVersion: 1\nChain ID: [a-z0-9:-]{1,44}\nNonce: [0-9A-Za-z]{8,64}\nIssued At: (\S+)\nExpiration Time: (\S+)$`)
	// No control characters but line ends, nothing invisible, nothing that changes the direction of text.
	plain    = regexp.MustCompile(`^[\n\x20-\x7e]*$`)
	origin   = regexp.MustCompile(`^(https?)://([^/@?#]+)/?$`)
	utcTime  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$`)
	loopback = regexp.MustCompile(`^(127\.0\.0\.1|\[::1\])(:|$)`)
)

// CheckChallenge fails unless the text registers this wallet with this service, and does nothing else.
func CheckChallenge(message string, terms ChallengeTerms) error {
	match := template.FindStringSubmatch(message)
	if match == nil || !plain.MatchString(message) {
		return refused("the service asked to sign something other than a registration")
	}
	site, signer, uri, issued, expires := match[1], match[2], match[3], match[4], match[5]
	if signer != terms.WalletAddress {
		return refused("the challenge is for another wallet")
	}
	base, err := url.Parse(terms.BaseURL)
	if err != nil {
		return err
	}
	host := terms.Domain
	if host == "" {
		host = strings.TrimSuffix(base.Host, map[string]string{"https": ":443", "http": ":80"}[base.Scheme])
	}
	target := origin.FindStringSubmatch(uri)
	if target == nil || sameHost(site) != sameHost(host) || sameHost(target[2]) != sameHost(host) {
		return refused(fmt.Sprintf("the challenge signs in to %s (%s), not to %s (Domain names another host)", site, uri, host))
	}
	if terms.Domain == "" && target[1] != base.Scheme {
		return refused(fmt.Sprintf("the challenge is for %s, not for %s", uri, terms.BaseURL))
	}
	from, until := utc(issued), utc(expires)
	life, skew := until.Sub(from), terms.Now.Sub(from).Abs()
	if from.IsZero() || until.IsZero() || life <= 0 || life > longestLife || skew > longestSkew {
		return refused(fmt.Sprintf("the challenge is valid from %s to %s, which is not now", issued, expires))
	}
	return nil
}

func refused(reason string) error {
	return fmt.Errorf("refused to register: %s; nothing was signed", reason)
}

// sameHost has every name of this machine's loopback as one.
func sameHost(host string) string {
	return loopback.ReplaceAllString(strings.ToLower(host), "localhost$2")
}

// utc is the zero time if the text is none.
func utc(text string) time.Time {
	if !utcTime.MatchString(text) {
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}
