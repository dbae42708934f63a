package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/seq"
)

// Purpose is what a one-time code is for. A code for one purpose is invalid for another.
type Purpose string

// Purposes of one-time codes.
const (
	Verify Purpose = "VERIFY" // verifies an e-mail address
	Reset  Purpose = "RESET"  // sets a new password
	Move   Purpose = "EMAIL"  // replaces the e-mail address; sent to the new one
)

// Limits of a code: lifetime, attempts, digits.
const (
	CodeTTL      = 5 * time.Minute
	CodeAttempts = 5
	codeDigits   = 6
)

// Window is a rate limit: at most Max events within Duration.
type Window struct {
	Duration time.Duration
	Max      int64
}

// Limits of codes per e-mail address. They are kept in SQL, so that losing Redis does not reset them. They leave an
// attacker 20 guesses a day at one in a million.
var (
	SendWindows = []Window{{time.Minute, 1}, {time.Hour, 5}, {24 * time.Hour, 10}}
	TryWindows  = []Window{{24 * time.Hour, 20}}
)

// RetryAfter returns how long nothing more is allowed, given the times of earlier events, oldest first. Zero means that
// an event is allowed now.
func RetryAfter(windows []Window, times []time.Time, now time.Time) time.Duration {
	var wait time.Duration
	for _, w := range windows {
		// Only events inside the window count. The oldest one beyond the maximum must leave it before the next is allowed.
		within := seq.Filter(times, func(t time.Time) bool { return now.Sub(t) < w.Duration })
		if over := int64(len(within)) - w.Max; over >= 0 {
			wait = max(wait, within[over].Add(w.Duration).Sub(now))
		}
	}
	return wait
}

// Code is a one-time code as it is stored.
type Code struct {
	Purpose     Purpose
	UserID      int64  // 0 if no account has the address
	Destination string // the hashed e-mail address, by which codes are counted
	Hash        string
	SentAt      time.Time
	ExpiresAt   time.Time
}

// newCode returns six random digits, uniformly distributed. The upper bound has codeDigits digits.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // never fails since Go 1.24
	}
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// codeHash returns the stored form of a code. All million codes can be tried at once, so only an HMAC protects them,
// with a key that is stored in another table. It covers the purpose and the address, so that the code is valid for
// those only.
func codeHash(key Key, p Purpose, email, code string) string {
	return hmacHex(key, string(p)+":"+email+":"+code)
}

// wellFormedCode reports whether a text has the form of a code. Other texts are refused without a query, which reveals
// nothing about an account.
func wellFormedCode(code string) bool {
	return len(code) == codeDigits && strings.Trim(code, "0123456789") == ""
}

// CodeStore stores codes and counts sends and attempts, normally accountsql.
type CodeStore interface {
	// Send counts a code for its destination and, for an account, stores it in place of the previous one and queues its
	// e-mail, in one transaction. A positive wait means that the limit was reached and nothing was stored. For user 0
	// it only counts.
	Send(ctx context.Context, c Code, l Email) (wait time.Duration, err error)
	// Try counts an attempt at an account's code. If attempts were left, it calls matches with the stored hash. The
	// attempt stays counted whatever matches returns (S6).
	Try(ctx context.Context, given Code, now time.Time, matches func(hash string) bool) (bool, error)
	// VerifyEmail uses a code up, activates its account and queues a welcome e-mail, whose language becomes that of all
	// e-mails about orders. used is false if a concurrent
	// request used the code first.
	VerifyEmail(ctx context.Context, c Code, now time.Time, l Email) (used bool, err error)
	// ChangeEmail uses a code up, replaces the address of its account and queues an e-mail to the former address. It
	// returns ErrEmailTaken if another account has the new one.
	ChangeEmail(ctx context.Context, c Code, now time.Time, email string, by authz.Actor, notice Email) (used bool, err error)
	// ResetPassword uses a code up, sets a new password and ends all sessions of the account.
	ResetPassword(ctx context.Context, c Code, now time.Time, passwordHash string, from Caller) (
		used bool, ended []string, err error)
}

// Errors of codes.
var (
	// ErrCode answers every failed code alike: wrong, expired, used, too many attempts, or no such account (S7).
	ErrCode    = fault.New(fault.Invalid, "code_invalid", "The code is wrong or has expired. Request a new one.")
	ErrPurpose = fault.New(fault.Invalid, "invalid", "purpose must be VERIFY or RESET.")
)
