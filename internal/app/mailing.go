package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"comanda/internal/account/accounthttp"
	"comanda/internal/mailing"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/worker"
)

// registerPath is the page on which a registration is finished: it sends a new code.
const registerPath = "/shop/verify"

// keepPreviews is how long previews of mailings stay.
const keepPreviews = 7 * 24 * time.Hour

// canSendMailings returns the reason why the restaurant cannot send mailings, or nil.
func (k *Core) canSendMailings() error {
	c := k.house.Load().config
	switch {
	case c.SMTPURL == "":
		return mailing.ErrNoMail
	case c.DerivedURL: // the address at which the server listens is not one that members can open
		return mailing.ErrNoURL
	}
	return nil
}

// messageComposer fills the e-mails of mailings.
func (k *Core) messageComposer() *mailing.MessageComposer {
	return &mailing.MessageComposer{
		Recipient: mailingsql.New(k.DB).Recipient, RegisterPath: registerPath,
		Restaurant: func(ctx context.Context) (mailing.SenderInfo, error) {
			house := k.house.Load()
			from, err := k.mailSender(ctx, 0)
			info := mailing.SenderInfo{
				Name: cmp.Or(house.brand.Name, from.Name), URL: strings.TrimSuffix(house.config.PublicURL, "/"),
			}
			if p, ok := house.brand.Palette(); ok {
				info.Accent = p.Light.Ink // readable as text on white
			}
			return info, err
		},
		Unsubscribe: func(user int64) (page, header string) {
			token := k.Accounts.Keys.UnsubscribeToken(user)
			return accounthttp.UnsubscribePage + token, accounthttp.UnsubscribePath + token
		},
	}
}

// mailingLoop queues the e-mails of mailings.
func (k *Core) mailingLoop() worker.Loop {
	store := mailingsql.New(k.DB)
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "mailings", Every: 2 * time.Second, Timeout: 20 * time.Second, MaxPause: 30 * time.Second,
		Run: func(ctx context.Context) error {
			_, err := store.Expand(ctx, k.DB.Now())
			return err
		},
	})
}
