package account

import (
	"context"
	"crypto/subtle"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// noticeTTL is how long the e-mail to a former address is tried.
const noticeTTL = 24 * time.Hour

// RequestEmail e-mails a code to the address that shall replace the actor's. It needs the current password: a stranger at
// an unlocked phone must not take the account over. For an address that another account has, the response is the same and no
// e-mail is sent, because the response must not reveal who has an account (S7).
func (a *Service) RequestEmail(ctx context.Context, actor authz.Actor, password, email string, c Caller) error {
	if err := a.reserve(ctx, LimitCodeIP, c.Network); err != nil {
		return err
	}
	email, ok := NormalizeEmail(email)
	if !ok {
		return fault.New(fault.Invalid, "invalid", "This is not an e-mail address.").With("field", "email")
	}
	u, _, err := a.verifyCurrentPassword(ctx, actor, password)
	if err != nil {
		return err
	}
	if email == u.Email {
		return fault.New(fault.Invalid, "invalid", "Your account has this e-mail address already.").With("field", "email")
	}
	other, _, err := a.Users.Find(ctx, email, "")
	if err != nil {
		return err
	}
	// The code is valid for the new address only.
	return a.sendCode(ctx, Move, email, u, other.ID == 0, c.Locale)
}

// ChangeEmail replaces the actor's e-mail address by the one that a code was sent to. An e-mail to the former
// address says so, in case that a stranger has made the change. Sessions stay.
func (a *Service) ChangeEmail(ctx context.Context, actor authz.Actor, email, code string, c Caller) (User, error) {
	if err := a.reserve(ctx, LimitCodeIP, c.Network); err != nil {
		return User{}, err
	}
	email, ok := NormalizeEmail(email)
	if !ok || !wellFormedCode(code) {
		return User{}, ErrCode
	}
	u, err := a.Users.User(ctx, actor.UserID)
	if err != nil {
		return User{}, err
	}
	now, former := a.Now(), u.Email
	u.Email = email
	given := a.newStoredCode(u, Move, code, now)
	if ok, err = a.compareCode(ctx, given, now); err != nil {
		return User{}, err
	}
	if !ok {
		return User{}, ErrCode
	}
	used, err := a.Codes.ChangeEmail(ctx, given, now, email, actor, Email{
		To: former, Template: TemplateEmailChanged, Locale: c.Locale, Expires: now.Add(noticeTTL),
		Fields: map[string]string{FieldName: u.Greeting(), FieldAddress: masked(email)},
	})
	if err := a.finishCode(ctx, given, used, err); err != nil {
		return User{}, err
	}
	a.Log.InfoContext(ctx, "security", "event", "authn_email_change", "user", u.ID)
	return a.Users.User(ctx, u.ID)
}

// compareCode counts an attempt at a code and compares it. The comparison runs inside the transaction that has counted the
// attempt (S6). Its time does not depend on the code.
func (a *Service) compareCode(ctx context.Context, given Code, now time.Time) (bool, error) {
	ok, err := a.Codes.Try(ctx, given, now, func(hash string) bool {
		a.Observer.code("compared")
		return subtle.ConstantTimeCompare([]byte(hash), []byte(given.Hash)) == 1
	})
	if err == nil && !ok {
		a.Observer.code("refused")
	}
	return ok, err
}

// masked hides most of an address: l***@example.com. The former address may be another person's by now.
func masked(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	return local[:1] + "***@" + domain
}
