package account

import (
	"context"
	"crypto/hmac"
	"strconv"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

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

// ConsentSource is where a member changed a consent.
type ConsentSource string

// Sources of consents.
const (
	ConsentAccount ConsentSource = "ACCOUNT" // the choices of the account
	ConsentLink    ConsentSource = "LINK"    // the link or the header of an e-mail
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
