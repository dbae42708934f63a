package account

import (
	"context"

	"comanda/internal/authz"
)

// MailChoices are an account's choices about its e-mails. E-mails that it needs are always sent: codes, receipts, and
// that an order was cancelled, has expired or was refunded.
type MailChoices struct {
	Locale        string // language of e-mails about orders; empty: the language of the branch
	OrderReceived bool
	OrderReady    bool
}

// DefaultMailChoices returns the choices of an account that has not chosen.
func DefaultMailChoices() MailChoices { return MailChoices{OrderReceived: true, OrderReady: true} }

// MailChoices returns the choices of an actor's own account.
func (a *Service) MailChoices(ctx context.Context, actor authz.Actor) (MailChoices, error) {
	return a.Users.MailChoices(ctx, actor.UserID)
}

// ChooseMail replaces the choices of an actor's own account.
func (a *Service) ChooseMail(ctx context.Context, actor authz.Actor, c MailChoices) (MailChoices, error) {
	return c, a.Users.SetMailChoices(ctx, actor.UserID, c, a.Now())
}
