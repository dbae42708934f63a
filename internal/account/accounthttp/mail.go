package accounthttp

import (
	"context"

	"comanda/internal/account"
	"comanda/internal/authz"
)

// mailChoices are an account's choices about its e-mails, in requests and responses.
type mailChoices struct {
	Locale        string `json:"locale,omitempty" enum:"en,vi,zh-TW" doc:"Language of e-mails about orders. If omitted, the language of the restaurant."`
	OrderReceived bool   `json:"orderReceived" doc:"An e-mail when an order was received."`
	OrderReady    bool   `json:"orderReady" doc:"An e-mail when an order is ready."`
}

func (m *memberRoutes) mailChoices(ctx context.Context, _ *struct{}) (mailChoices, error) {
	c, err := m.accounts.MailChoices(ctx, authz.ActorOf(ctx))
	return mailChoices(c), err
}

type mailChoicesIn struct{ Body mailChoices }

func (m *memberRoutes) chooseMail(ctx context.Context, in *mailChoicesIn) (mailChoices, error) {
	c, err := m.accounts.ChooseMail(ctx, authz.ActorOf(ctx), account.MailChoices(in.Body))
	return mailChoices(c), err
}
