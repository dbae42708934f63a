package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounthttp"
	"comanda/internal/catalog"
	"comanda/internal/mail"
	"comanda/internal/mail/mailout"
	"comanda/internal/mail/mailsql"
	"comanda/internal/mailing"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/ordermail"
	"comanda/internal/telemetry"
	typed "comanda/internal/text"
	"comanda/internal/worker"
)

// mailFolder is the folder in the data folder for messages when no mail server is configured.
const mailFolder = "mail"

// keepDead is how long a dead letter stays for inspection.
const keepDead = 7 * 24 * time.Hour

// mail returns the configuration of the mail sender.
func (c Config) mail() mailout.Config { return mailout.Config{URL: c.SMTPURL, From: c.MailFrom} }

// mailTransport returns the configured transport. It opens no connection and creates no folder.
func (c Config) mailTransport() (mail.Transport, error) {
	if c.SMTPURL != "" {
		return mailout.NewSMTP(c.mail())
	}
	return mailout.NewFolder(filepath.Join(c.DataDir, mailFolder), c.MailFrom)
}

// validateMail also checks that the sender's address is valid.
func (c Config) validateMail() error {
	_, err := c.mailTransport()
	return err
}

// mailSender returns the sender of an e-mail about a branch, or for branch 0 of any other e-mail. Guests know the
// restaurant and not its software, so the sender's name is that of the branch or the restaurant, unless the address
// was set with a name.
func (k *Core) mailSender(ctx context.Context, branch int64) (typed.Mailbox, error) {
	h := k.house.Load()
	if branch != 0 {
		switch b, err := k.Branches.Store.Branch(ctx, branch); {
		case err == nil:
			own := typed.Mailbox{}
			if b.MailFrom != "" {
				if own, err = typed.ParseMailbox(b.MailFrom); err != nil {
					return own, err
				}
			}
			return typed.Mailbox{Name: cmp.Or(own.Name, b.Name), Address: own.Address}, nil
		case !errors.Is(err, catalog.ErrBranch): // a branch that no longer exists: the restaurant is the sender
			return typed.Mailbox{}, err
		}
	}
	from, err := typed.ParseMailbox(h.config.MailFrom)
	if err != nil || from.Name != "" || h.brand.Name != "" {
		return typed.Mailbox{Name: cmp.Or(from.Name, h.brand.Name)}, err
	}
	all, err := k.Branches.Store.Branches(ctx)
	if err != nil || len(all) == 0 {
		return typed.Mailbox{}, err
	}
	return typed.Mailbox{Name: all[0].Name}, nil // the public page uses this name too if there is no brand
}

// mailRestaurant returns what e-mails about orders show of the restaurant.
func (k *Core) mailRestaurant(ctx context.Context) (ordermail.RestaurantInfo, error) {
	h := k.house.Load()
	house := ordermail.RestaurantInfo{URL: strings.TrimSuffix(h.config.PublicURL, "/")}
	if p, ok := h.brand.Palette(); ok {
		house.Accent = p.Light.Ink // readable as text on white
	}
	if h.brand.Address == "" {
		return house, nil
	}
	// The brand has one address. If there are several branches, it may be another one's.
	all, err := k.Branches.Store.Branches(ctx)
	all = slices.DeleteFunc(all, func(b catalog.Branch) bool { return !b.RetiredAt.IsZero() })
	if len(all) == 1 {
		house.Address = h.brand.Address
	}
	return house, err
}

// mailLoops send e-mails and export the queue's length. They run after wireIdentity, which reads the key that decrypts
// the fields of e-mails. A mail server that is unreachable is tried every half minute.
func (k *Core) mailLoops(log *slog.Logger, reg prometheus.Registerer) []worker.Loop {
	store := mailsql.New(k.DB)
	composer := &ordermail.Composer{Orders: k.OrderReader, Branch: k.Branches.Store.Branch, Restaurant: k.mailRestaurant}
	sender := &mail.Sender{
		Store: store, Transport: houseMail{k}, From: k.mailSender, Decrypt: k.Accounts.Keys.DecryptFields,
		OrderContent: composer.Content, MailingContent: k.messageComposer().Content, Now: k.DB.Now, Log: log,
		Result: telemetry.Metrics(reg).Counting("mail_total", "E-mails by the result of an attempt.", "result"),
	}
	return []worker.Loop{
		{Name: "mail", Run: sender.RunOnce, Every: time.Second, Timeout: 5 * time.Minute, MaxPause: 30 * time.Second},
		{Name: "mail_watch", Run: watchMail(store, k.DB.Now, reg), Every: 30 * time.Second, Timeout: 10 * time.Second},
	}
}

// watchMail deletes old dead letters and exports the queue.
func watchMail(store *mailsql.Store, now func() time.Time, reg prometheus.Registerer) func(context.Context) error {
	f := telemetry.Metrics(reg)
	gauges := backlogGauges{
		pending: f.Gauge("mail_pending", "E-mails waiting to be sent."),
		age:     f.Gauge("mail_oldest_age_seconds", "Time since the oldest waiting e-mail became due."),
		dead:    f.Gauge("mail_dead", "E-mails that are dead letters."),
	}
	return func(ctx context.Context) error {
		if _, err := store.Purge(ctx, now().Add(-keepDead)); err != nil {
			return err
		}
		return gauges.measure(store.Backlog(ctx, now()))
	}
}

// registerPath is the page on which a registration is finished: it sends a new code.
const registerPath = "/shop/verify"

// keepPreviews is how long previews of mailings stay.
const keepPreviews = 7 * 24 * time.Hour

// keepRecipients is how long the recipients of a finished mailing stay. It is longer than a failed e-mail can be sent again.
const keepRecipients = 30 * 24 * time.Hour

// purgeMailings deletes previews and recipients of mailings past their retention.
func (k *Core) purgeMailings(ctx context.Context, now time.Time) error {
	store := mailingsql.New(k.DB)
	if err := store.Purge(ctx, now.Add(-keepPreviews)); err != nil {
		return err
	}
	return store.PurgeRecipients(ctx, now.Add(-keepRecipients))
}

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
