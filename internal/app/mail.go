package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/mail"
	"comanda/internal/mail/mailout"
	"comanda/internal/mail/mailsql"
	"comanda/internal/ordermail"
	"comanda/internal/telemetry"
	typed "comanda/internal/text" // package app has a function text
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
	if _, err := c.mailTransport(); err != nil {
		return fmt.Errorf("configuration: COMANDA_SMTP_URL, COMANDA_MAIL_FROM: %w", err)
	}
	return nil
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
		case !errors.Is(err, catalog.ErrBranch): // a branch that does not exist any more: the restaurant is the sender
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
