package account

import (
	"context"
	"crypto/hmac"
	"crypto/subtle"
	"strconv"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// noticeTTL is how long an e-mail about a change of the account is tried.
const noticeTTL = 24 * time.Hour

// notice returns the e-mail about a change of an account.
func (u User) notice(template, locale string, now time.Time) Email {
	return Email{
		To: u.Email, Template: template, Locale: locale, Expires: now.Add(noticeTTL),
		Fields: map[string]string{FieldName: u.Greeting()},
	}
}

// RequestEmail e-mails a code to the address that shall replace the actor's. It needs the current password: a stranger at
// an unlocked phone must not take the account over. For an address that another account has, the response is the same and no
// e-mail is sent, because the response must not reveal who has an account (S7).
func (a *Service) RequestEmail(ctx context.Context, actor authz.Actor, password, email string, c Caller) error {
	if err := a.reserve(ctx, LimitCodeIP, c.Network); err != nil {
		return err
	}
	email, ok := NormalizeEmail(email)
	if !ok {
		return fault.New(fault.Invalid, "invalid", "This is not a valid e-mail address.").With("field", "email")
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

// MailChoices are an account's choices about its e-mails. E-mails that it needs are always sent: codes, receipts, and
// that an order was cancelled, has expired or was refunded.
type MailChoices struct {
	Locale        string // language of e-mails about orders and of news; empty: the language of the branch
	OrderReceived bool
	OrderReady    bool
	News          bool // the consent to news; each change is a row of account_consent
}

// DefaultMailChoices returns the choices of an account that has not chosen.
func DefaultMailChoices() MailChoices { return MailChoices{OrderReceived: true, OrderReady: true} }

// ConsentSource is the place where a member changed a consent.
type ConsentSource string

// Sources of consents.
const (
	ConsentRegistration ConsentSource = "REGISTRATION" // the registration
	ConsentAccount      ConsentSource = "ACCOUNT"      // the choices of the account
	ConsentLink         ConsentSource = "LINK"         // the link or the header of an e-mail
)

// MailChoices returns the choices of an actor's own account.
func (a *Service) MailChoices(ctx context.Context, actor authz.Actor) (MailChoices, error) {
	return a.Users.MailChoices(ctx, actor.UserID)
}

// ChooseMail replaces the choices of an actor's own account. If news is nil, the consent stays as it is: clients that do
// not know it must not withdraw it. locale is the language in which the choices were shown.
func (a *Service) ChooseMail(
	ctx context.Context, actor authz.Actor, c MailChoices, news *bool, locale string,
) (MailChoices, error) {
	return a.Users.SetMailChoices(ctx, actor.UserID, c, news, locale, a.Now())
}

// ErrUnsubscribe refuses a link that this installation has not made.
var ErrUnsubscribe = fault.New(fault.NotFound, "unsubscribe_link_invalid",
	"This link does not work. You can unsubscribe in your account.")

const (
	unsubscribeUse   = "comanda unsubscribe"
	unsubscribeBytes = 16
)

// UnsubscribeToken returns the secret part of an account's link in e-mails. It can do nothing but withdraw the consent to
// news, and does not expire: people unsubscribe from old e-mails.
func (k Keys) UnsubscribeToken(user int64) string {
	return decimal(user) + "." + fingerprint(k.Mail.Derive(unsubscribeUse), "news", decimal(user), unsubscribeBytes)
}

// WithdrawNews withdraws the consent of the account of a token. Repeating it changes nothing.
func (a *Service) WithdrawNews(ctx context.Context, token string) error {
	id, _, _ := strings.Cut(token, ".")
	user, err := strconv.ParseInt(id, 10, 64)
	if err != nil || !hmac.Equal([]byte(token), []byte(a.Keys.UnsubscribeToken(user))) {
		return ErrUnsubscribe
	}
	return a.Users.WithdrawNews(ctx, user, ConsentLink, a.Now())
}
