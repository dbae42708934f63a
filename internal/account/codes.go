package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/seq"
)

// Purpose is the purpose of a one-time code. A code for one purpose is invalid for another.
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
	// e-mail, in one transaction. A positive wait means that the limit was reached and nothing was stored. User 0 stands
	// for an unknown address: the code is only counted.
	Send(ctx context.Context, c Code, l Email) (wait time.Duration, err error)
	// Try counts an attempt at an account's code. If attempts were left, it calls matches with the stored hash. The
	// attempt stays counted whatever matches returns (S6).
	Try(ctx context.Context, given Code, now time.Time, matches func(hash string) bool) (bool, error)
	// VerifyEmail uses a code up, activates its account and queues a welcome e-mail, whose language becomes that of all
	// e-mails about orders. used is false if a concurrent request used the code first.
	VerifyEmail(ctx context.Context, c Code, now time.Time, l Email) (used bool, err error)
	// ChangeEmail uses a code up, replaces the address of its account and queues an e-mail to the former address. It
	// returns ErrEmailTaken if another account has the new one.
	ChangeEmail(ctx context.Context, c Code, now time.Time, email string, by authz.Actor, notice Email) (used bool, err error)
	// ResetPassword uses a code up, sets a new password, removes every other credential of the account and ends all its
	// sessions (decision 85). It queues the e-mail with what was removed: FieldGoogle, FieldPin.
	ResetPassword(ctx context.Context, c Code, now time.Time, passwordHash string, from Caller, notice Email) (
		used bool, ended []string, err error)
}

// Errors of codes.
var (
	// ErrCode answers every failed code alike: wrong, expired, used, too many attempts, or no such account (S7).
	ErrCode    = fault.New(fault.Invalid, "code_invalid", "The code is wrong or has expired. Request a new one.")
	ErrPurpose = fault.New(fault.Invalid, "invalid", "purpose must be VERIFY or RESET.")
)

// RequestCode e-mails a code if the address belongs to an account that can use it. The response is the same for every
// address (S7).
func (a *Service) RequestCode(ctx context.Context, p Purpose, email string, c Caller) error {
	if p != Verify && p != Reset {
		return ErrPurpose
	}
	if err := a.reserve(ctx, LimitCodeIP, c.Network); err != nil {
		return err
	}
	email, ok := NormalizeEmail(email)
	if !ok {
		return invalid("This is not a valid e-mail address.")
	}
	u, _, err := a.Users.Find(ctx, email, "")
	if err != nil {
		return err
	}
	return a.sendCode(ctx, p, email, u, useful(u, p), c.Locale)
}

// sendCode e-mails a code to an address, which is that of the account or the one that shall replace it. If the code would
// be useless, no account and no e-mail belong to it, and it is only counted, so that the response is the same.
func (a *Service) sendCode(ctx context.Context, p Purpose, email string, u User, useful bool, locale string) error {
	now := a.Now()
	code := Code{Destination: destination(email), SentAt: now}
	var l Email
	if useful {
		u.Email = email
		text := newCode()
		code = a.newStoredCode(u, p, text, now)
		var err error
		if l, err = a.codeEmail(u, templateFor(p), text, locale, now); err != nil {
			return fault.Wrap("encrypt a code", err)
		}
	}
	wait, err := a.Codes.Send(ctx, code, l)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &fault.Error{
			Kind: fault.TooMany, Code: "rate_limited", RetryAfter: wait,
			Detail: "A code was sent a moment ago, or too many were sent today. Please wait.",
		}
	}
	if code.UserID != 0 {
		a.recordSent(ctx, p, u.ID, now)
	}
	return nil
}

// useful reports whether a code helps an account. A reset code also sets the first password of an account without one.
func useful(u User, p Purpose) bool {
	return u.ID != 0 && (p == Reset && u.Status != Disabled || p == Verify && u.Status == Pending)
}

func templateFor(p Purpose) string {
	switch p {
	case Reset:
		return TemplateReset
	case Move:
		return TemplateEmailChange
	default:
		return TemplateVerify
	}
}

// VerifyEmail verifies an e-mail address with the code that was sent to it, which activates the account.
func (a *Service) VerifyEmail(ctx context.Context, email, code string, c Caller) error {
	u, kept, err := a.verifyCode(ctx, Verify, email, code, c)
	if err != nil {
		return err
	}
	now := a.Now()
	used, err := a.Codes.VerifyEmail(ctx, kept, now, Email{
		To: u.Email, Template: TemplateWelcome, Locale: c.Locale, Expires: now.Add(welcomeTTL),
		Fields: map[string]string{FieldName: u.Greeting()},
	})
	return a.finishCode(ctx, kept, used, err)
}

// ResetPassword sets a new password with the code that was sent to the address, and ends every session. What someone with
// the old password may have added is removed too: the connection to Google, the PIN and a code for another address
// (decision 85). It also verifies the address and reopens login after too many wrong passwords.
func (a *Service) ResetPassword(ctx context.Context, email, code, password string, c Caller) error {
	// The rules that need no account are checked first: a password that no account may have must not use up an
	// attempt.
	if err := CheckPassword(password, false); err != nil {
		return err
	}
	u, kept, err := a.verifyCode(ctx, Reset, email, code, c)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, authz.IsStaff(u.Role), u.Email, u.Username); err != nil {
		return err // the code stays valid for another password
	}
	hash, err := a.Hasher.Hash(ctx, password)
	if err != nil {
		return err // the code stays valid when the hasher is busy
	}
	now := a.Now()
	used, ended, err := a.Codes.ResetPassword(ctx, kept, now, hash, c, u.notice(TemplatePasswordReset, c.Locale, now))
	if err := a.finishCode(ctx, kept, used, err); err != nil {
		return err
	}
	a.Log.InfoContext(ctx, "security", "event", "authn_password_change", "user", u.ID)
	a.dropSessions(ctx, ended)
	return nil
}

// verifyCode counts an attempt, then compares the code. It returns the account and the stored form of the given code.
func (a *Service) verifyCode(ctx context.Context, p Purpose, email, code string, c Caller) (User, Code, error) {
	if err := a.reserve(ctx, LimitCodeIP, c.Network); err != nil {
		return User{}, Code{}, err
	}
	email, ok := NormalizeEmail(email)
	if !ok || !wellFormedCode(code) {
		return User{}, Code{}, ErrCode
	}
	u, _, err := a.Users.Find(ctx, email, "")
	if err != nil {
		return User{}, Code{}, err
	}
	now := a.Now()
	given := a.newStoredCode(u, p, code, now)
	if ok, err = a.compareCode(ctx, given, now); err == nil && !ok {
		err = ErrCode
	}
	return u, given, err
}

// finishCode reports the outcome of using a correct code.
func (a *Service) finishCode(ctx context.Context, c Code, used bool, err error) error {
	switch {
	case err != nil:
		return err
	case !used: // a concurrent request used the code first
		a.Observer.code("refused")
		return ErrCode
	}
	a.Observer.code("accepted")
	_ = a.Cache.DeleteCode(ctx, c.Purpose, c.UserID) // best effort: SQL is authoritative
	return nil
}

// ErrPassword refuses a change that needs the current password.
var ErrPassword = fault.New(fault.Forbidden, "password_wrong", "The current password is wrong.")

// ChangePassword replaces an actor's password and ends all other sessions of the account. It returns the device's new
// cookie; all other devices of the account become unknown until their next login.
func (a *Service) ChangePassword(
	ctx context.Context, actor authz.Actor, present, next, cookie string,
) (newMarks string, err error) {
	// A password that is unfit for any account is refused before the current one is hashed.
	if err := CheckPassword(next, authz.IsStaff(actor.Role)); err != nil {
		return "", err
	}
	u, p, err := a.verifyCurrentPassword(ctx, actor, present)
	if err != nil {
		return "", err
	}
	if err := CheckPassword(next, authz.IsStaff(actor.Role), u.Email, u.Username); err != nil {
		return "", err
	}
	if p.NewHash, err = a.Hasher.Hash(ctx, next); err != nil {
		return "", err
	}
	p.Request, p.Address = actor.Request, actor.Address
	ended, err := a.SessionStore.ChangePassword(ctx, u.ID, p, actor.Session, a.Now())
	if err != nil {
		return "", err
	}
	a.Log.InfoContext(ctx, "security", "event", "authn_password_change", "user", u.ID)
	a.dropSessions(ctx, ended)
	now := a.Now()
	return a.Devices.add(cookie, a.Devices.device(cookie, now), u.ID, p.NewHash, now), nil
}

// verifyCurrentPassword verifies an actor's current password. A session has a limit of its own, like a known device, so
// that strangers who guess at the account do not keep its owner from changing the password.
func (a *Service) verifyCurrentPassword(ctx context.Context, actor authz.Actor, password string) (User, LoginProof, error) {
	u, err := a.Users.User(ctx, actor.UserID)
	if err != nil {
		return User{}, LoginProof{}, err
	}
	p, ok, err := a.verifyWithinDeviceBudget(ctx, u, "session "+actor.Session, password)
	if err == nil && !ok {
		// The session has used up its attempts. Unlike a login it has no second limit to continue with.
		return User{}, LoginProof{}, limitError(LimitLoginAccount, DeviceWindow)
	}
	if errors.Is(err, ErrLogin) {
		a.Incidents.Add(actor.String(), audit.ActionLoginFailed, userSubject(u.ID), actor.Address)
		err = ErrPassword
	}
	return u, p, err
}

// PurgeCutoffs are the instants before which rows are deleted, by kind of row.
type PurgeCutoffs struct {
	Revocations time.Time // kept longer than every access token lives
	Counts      time.Time
	SpentTokens time.Time // spent refresh tokens
	Sessions    time.Time
}

// PurgeCutoffsAt returns the cutoffs for an instant. Spent refresh tokens are kept for the idle time of a member's
// session. After that a spent token is unknown and no longer detected as reused.
func PurgeCutoffsAt(now time.Time) PurgeCutoffs {
	return PurgeCutoffs{
		Revocations: now.Add(-revocationTTL), Counts: now.Add(-48 * time.Hour), SpentTokens: now.Add(-memberIdle),
		Sessions: now.Add(-memberIdle),
	}
}
