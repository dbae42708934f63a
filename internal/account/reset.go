package account

import (
	"context"
	"errors"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
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
		return invalid("This is not an e-mail address.")
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

// ResetPassword sets a new password with the code that was sent to the address, and ends every session. It also
// verifies the address and reopens login after too many wrong passwords.
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
	used, ended, err := a.Codes.ResetPassword(ctx, kept, a.Now(), hash, c)
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
