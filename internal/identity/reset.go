package identity

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"comanda/internal/fault"
)

// RequestCode sends a code to an address if there is an account to which it is of use. The answer is the same in any
// case.
func (a *Accounts) RequestCode(ctx context.Context, p Purpose, email string, c Caller) error {
	if p != Verify && p != Reset {
		return ErrPurpose
	}
	if err := a.allow(ctx, LimitCodeIP, c.Network); err != nil {
		return err
	}
	email, ok := NormalEmail(email)
	if !ok {
		return invalid("This is not an e-mail address.")
	}
	u, _, err := a.Registry.Find(ctx, email, "")
	if err != nil {
		return err
	}
	now := a.Now()
	code := Code{Destination: destination(email), SentAt: now}
	var l Letter
	if useful(u, p) {
		text := newCode()
		code = a.code(u, p, text, now)
		if l, err = a.letter(u, letterFor(p), text, c.Locale, now); err != nil {
			return fault.Wrap("seal a code", err)
		}
	}
	wait, err := a.Codes.Send(ctx, code, l)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &fault.Error{
			Kind: fault.TooMany, Code: "rate_limited", RetryAfter: wait,
			Detail: "A code was sent a moment ago, or too many were today.",
		}
	}
	if code.UserID != 0 {
		a.sent(ctx, p, u.ID, now)
	}
	return nil
}

// useful tells whether a code helps an account. A password that nobody has can be set by one, too.
func useful(u User, p Purpose) bool {
	return u.ID != 0 && (p == Reset && u.Status != Disabled || p == Verify && u.Status == Pending)
}

func letterFor(p Purpose) string {
	if p == Reset {
		return LetterReset
	}
	return LetterVerify
}

// VerifyEmail proves an address by the code that was sent to it; the account can log in from then on.
func (a *Accounts) VerifyEmail(ctx context.Context, email, code string, c Caller) error {
	u, kept, err := a.try(ctx, Verify, email, code, c)
	if err != nil {
		return err
	}
	now := a.Now()
	used, err := a.Codes.Prove(ctx, kept, now, Letter{
		To: u.Email, Template: LetterWelcome, Locale: c.Locale, Expires: now.Add(welcomeLife),
		Fields: map[string]string{FieldName: u.greeting()},
	})
	return a.spent(ctx, kept, used, err)
}

// ResetPassword sets a new password by the code that was sent to the address, and ends every session. It proves the
// address, too, and opens what wrong passwords have closed.
func (a *Accounts) ResetPassword(ctx context.Context, email, code, password string, c Caller) error {
	if err := CheckPassword(password, false); err != nil {
		return err
	}
	u, kept, err := a.try(ctx, Reset, email, code, c)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, IsStaff(u.Role), u.Email, u.Username); err != nil {
		return err // the code stays good for a better one
	}
	hash, err := a.Hasher.Hash(ctx, password)
	if err != nil {
		return err // likewise when everything is busy
	}
	used, ended, err := a.Codes.Replace(ctx, kept, a.Now(), hash, c)
	if err := a.spent(ctx, kept, used, err); err != nil {
		return err
	}
	a.Log.InfoContext(ctx, "security", "event", "authn_password_change", "user", u.ID)
	a.ended(ctx, ended)
	return nil
}

// try counts an attempt, then compares. What it gives is the account and its code.
func (a *Accounts) try(ctx context.Context, p Purpose, email, code string, c Caller) (User, Code, error) {
	if err := a.allow(ctx, LimitCodeIP, c.Network); err != nil {
		return User{}, Code{}, err
	}
	email, ok := NormalEmail(email)
	if !ok || !wellFormedCode(code) {
		return User{}, Code{}, ErrCode
	}
	u, _, err := a.Registry.Find(ctx, email, "")
	if err != nil {
		return User{}, Code{}, err
	}
	now := a.Now()
	given := a.code(u, p, code, now)
	ok, err = a.Codes.Try(ctx, given, now, func(hash string) bool {
		a.Observer.code("compared")
		return subtle.ConstantTimeCompare([]byte(hash), []byte(given.Hash)) == 1
	})
	if err == nil && !ok {
		a.Observer.code("refused")
		err = ErrCode
	}
	return u, given, err
}

// spent tells what became of a code that was right.
func (a *Accounts) spent(ctx context.Context, c Code, used bool, err error) error {
	switch {
	case err != nil:
		return err
	case !used: // somebody was faster with the same code
		a.Observer.code("refused")
		return ErrCode
	}
	a.Observer.code("accepted")
	_ = a.Memory.DropCode(ctx, c.Purpose, c.UserID) // SQL has it
	return nil
}

// ErrPassword refuses a change for which the present password was not given.
var ErrPassword = fault.New(fault.Forbidden, "password_wrong", "That is not the present password.")

// ChangePassword replaces an actor's password by another one and ends all sessions but this. It returns the marks of the
// device from now on: every other device of the account is a stranger's until the next login.
func (a *Accounts) ChangePassword(
	ctx context.Context, who Actor, present, next, marks string,
) (newMarks string, err error) {
	if err := CheckPassword(next, IsStaff(who.Role)); err != nil {
		return "", err
	}
	u, p, err := a.present(ctx, who, present)
	if err != nil {
		return "", err
	}
	if err := CheckPassword(next, IsStaff(who.Role), u.Email, u.Username); err != nil {
		return "", err
	}
	if p.NewHash, err = a.Hasher.Hash(ctx, next); err != nil {
		return "", err
	}
	p.Request, p.Address = who.Request, who.Address
	ended, err := a.Logins.Repassword(ctx, u.ID, p, who.Session, a.Now())
	if err != nil {
		return "", err
	}
	a.Log.InfoContext(ctx, "security", "event", "authn_password_change", "user", u.ID)
	a.ended(ctx, ended)
	return a.Devices.add(marks, u.ID, p.NewHash, a.Now()), nil
}

// present compares an actor's present password. Like a known device, a session has a budget of its own, so that
// strangers who guess at the account do not keep its owner from changing the password.
func (a *Accounts) present(ctx context.Context, who Actor, password string) (User, Proof, error) {
	u, err := a.Registry.User(ctx, who.UserID)
	if err != nil {
		return User{}, Proof{}, err
	}
	p, ok, err := a.fromDevice(ctx, u, "session "+who.Session, password)
	if err == nil && !ok {
		return User{}, Proof{}, tooOften(LimitLoginAccount, DeviceWindow)
	}
	if errors.Is(err, ErrLogin) {
		a.Incidents.Note(who.String(), ActionLoginFailed, userSubject(u.ID), who.Address)
		err = ErrPassword
	}
	return u, p, err
}

// Purge forgets what is no longer needed: revocations that outlived every token, counts, spent tokens, old sessions.
type Purge struct {
	Revocations time.Time // older ones go
	Counts      time.Time
	Spent       time.Time
	Sessions    time.Time
}

// PurgeAt tells what may go at an instant. Spent refresh tokens are known for as long as a member may be silent: an
// older one is only unknown, not reused.
func PurgeAt(now time.Time) Purge {
	return Purge{
		Revocations: now.Add(-revocationLife), Counts: now.Add(-48 * time.Hour), Spent: now.Add(-memberIdle),
		Sessions: now.Add(-memberIdle),
	}
}
