package mailing

import (
	"context"
	"fmt"
	"strings"

	"comanda/internal/mail"
	"comanda/internal/seq"
)

// Recipient is an e-mail of a mailing and what its account is now.
type Recipient struct {
	Mailing Mailing
	UserID  int64
	Name    string
	Email   string // empty if the account has none
	Wanted  bool   // the account is active and agrees, or for reminders, is still not registered
}

// SenderInfo is what mailings show of the restaurant.
type SenderInfo struct {
	Name   string
	URL    string // without a slash at its end
	Accent string // brand colour with enough contrast on white; empty for none
}

// MessageComposer fills the e-mails when they are sent.
type MessageComposer struct {
	// Recipient returns the recipient of a queued e-mail.
	Recipient  func(ctx context.Context, mailID string) (r Recipient, found bool, err error)
	Restaurant func(ctx context.Context) (SenderInfo, error)
	// Unsubscribe returns the addresses that withdraw an account's consent: a page, and one for List-Unsubscribe.
	Unsubscribe func(user int64) (page, header string)
	// RegisterPath is the page on which a registration is finished.
	RegisterPath string
}

// Content returns the content of an e-mail, for mail.Sender.MailingContent. What is no longer wanted is obsolete (N2, N5).
func (c *MessageComposer) Content(ctx context.Context, q mail.QueuedMessage) (mail.TemplateData, error) {
	r, found, err := c.Recipient(ctx, q.ID)
	switch {
	case err != nil:
		return mail.TemplateData{}, err
	case !found:
		return mail.TemplateData{}, fmt.Errorf("%w: its mailing does not exist", mail.ErrRefused)
	case r.Mailing.State == Canceled, r.Email != q.Recipient, !r.Wanted && !r.Mailing.Preview:
		return mail.TemplateData{}, mail.ErrObsolete
	}
	info, err := c.Restaurant(ctx)
	if err != nil {
		return mail.TemplateData{}, err
	}
	d := mail.TemplateData{
		Fields: map[string]string{"name": r.Name, "restaurant": info.Name}, Accent: info.Accent,
	}
	if r.Mailing.Kind == Reminder {
		d.Fields["link"] = info.URL + c.RegisterPath
		d.Links = []string{d.Fields["link"]}
		return d, nil
	}
	t, ok := r.Mailing.text(q.Locale)
	if !ok {
		return mail.TemplateData{}, fmt.Errorf("%w: it has no text in its language", mail.ErrRefused)
	}
	page, header := c.Unsubscribe(r.UserID)
	d.Fields["subject"], d.Fields["unsubscribe"], d.Unsubscribe = t.Subject, info.URL+page, info.URL+header
	d.Links = []string{d.Fields["unsubscribe"]}
	d.Lists = map[string][]map[string]string{
		"lines": seq.Map(strings.Split(t.Text, "\n"), func(line string) map[string]string {
			return map[string]string{"text": line}
		}),
	}
	return d, nil
}
