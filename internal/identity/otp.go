package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"comanda/internal/fault"
)

// Purpose is what a one-time code is for. One for another purpose opens nothing.
type Purpose string

// The purposes.
const (
	Verify Purpose = "VERIFY" // proves an e-mail address
	Reset  Purpose = "RESET"  // sets a new password
)

// How long a code is good, and how often it may be tried.
const (
	CodeLife     = 5 * time.Minute
	CodeAttempts = 5
	codeDigits   = 6
)

// Window is a bound on how often something is done to one destination.
type Window struct {
	Span time.Duration
	Most int64
}

// The bounds of codes for one destination, kept in SQL so that they hold whatever happens to Redis. With them somebody
// who guesses has 20 tries in a million a day.
var (
	SendWindows = []Window{{time.Minute, 1}, {time.Hour, 5}, {24 * time.Hour, 10}}
	TryWindows  = []Window{{24 * time.Hour, 20}}
)

// Full tells for how long nothing more may happen, given when it happened, the oldest first; zero when it may now.
func Full(windows []Window, times []time.Time, now time.Time) time.Duration {
	var wait time.Duration
	for _, w := range windows {
		var within []time.Time
		for _, t := range times {
			if now.Sub(t) < w.Span {
				within = append(within, t)
			}
		}
		if over := int64(len(within)) - w.Most; over >= 0 {
			wait = max(wait, within[over].Add(w.Span).Sub(now))
		}
	}
	return wait
}

// Code is a code as it is kept.
type Code struct {
	Purpose     Purpose
	UserID      int64  // 0 for nobody
	Destination string // the address, hashed: what codes are counted by
	Hash        string
	SentAt      time.Time
	ExpiresAt   time.Time
}

// newCode makes six digits, all equally likely.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // never fails since Go 1.24
	}
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// codeHash is what is kept of a code. A million codes are tried in no time, so only a key that is not in the same table
// keeps them secret. A code is good for the address that it was sent to, and for nothing else.
func codeHash(key Key, p Purpose, email, code string) string {
	return tag(key, string(p)+":"+email+":"+code)
}

func wellFormedCode(code string) bool {
	if len(code) != codeDigits {
		return false
	}
	for i := range len(code) {
		if code[i] < '0' || code[i] > '9' {
			return false
		}
	}
	return true
}

// CodeBook keeps codes and counts what is done with them, normally identitysql.
type CodeBook interface {
	// Send counts a code for its destination and, for an account, keeps it with the letter that brings it in place of
	// the one before, in one transaction; wait is positive when that would be too often. For nobody it only counts.
	Send(ctx context.Context, c Code, l Letter) (wait time.Duration, err error)
	// Try counts an attempt at an account's code and then, if there was one left, asks matches about the hash that is
	// kept; the count stays whatever it answers.
	Try(ctx context.Context, given Code, now time.Time, matches func(hash string) bool) (bool, error)
	// Prove uses a code up and makes its account active, with a letter of welcome; used is false when somebody else was
	// first.
	Prove(ctx context.Context, c Code, now time.Time, l Letter) (used bool, err error)
	// Replace uses a code up, sets a new password and ends all sessions of the account.
	Replace(ctx context.Context, c Code, now time.Time, passwordHash string, from Caller) (
		used bool, ended []string, err error)
}

// The faults of codes.
var (
	// ErrCode answers every code that does not open anything, whether it is wrong, old, used, tried too often, or there
	// is no such account.
	ErrCode    = fault.New(fault.Invalid, "code_invalid", "The code is wrong or no longer good; ask for a new one.")
	ErrPurpose = fault.New(fault.Invalid, "invalid", "purpose is VERIFY or RESET.")
)
