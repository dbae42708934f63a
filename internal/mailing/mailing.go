package mailing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/mail"
	"comanda/internal/seq"
	"comanda/internal/uid"
)

// Limits of mailings (N4).
const (
	MaxRecipients = 10_000 // of one mailing; at the limit below they take less than three hours
	BatchSize     = 20     // e-mails that are queued at once
	// BatchInterval is the time from one batch to the next. 60 e-mails a minute are below what small mail servers and
	// providers allow.
	BatchInterval = 20 * time.Second
	// MaxWaiting is the maximum number of e-mails of mailings that wait in the outbox. While a mail server is down, no
	// more are queued, so that they do not expire there.
	MaxWaiting = 100
	// TTL is how long a queued e-mail is worth sending.
	TTL = 24 * time.Hour

	maxSubject = 150  // characters
	maxText    = 5000 // characters
	maxLine    = 1000 // characters of a paragraph's line
)

// Kind is the purpose of a mailing. The values are stored.
type Kind string

// Kinds of mailings.
const (
	News     Kind = "NEWS"
	Reminder Kind = "REMINDER" // to finish a registration
)

// Template returns the name of the kind's template.
func (k Kind) Template() string {
	if k == Reminder {
		return "reminder"
	}
	return "news"
}

// State is the state of a mailing. The values are stored.
type State string

// States of a mailing.
const (
	Sending  State = "SENDING"
	Sent     State = "SENT" // every e-mail was sent, has failed or was left out
	Canceled State = "CANCELED"
)

// Text is the content of a mailing in one language.
type Text struct {
	Locale  string `json:"locale"` // one of mail.Locales
	Subject string `json:"subject"`
	Text    string `json:"text"` // plain; an empty line separates paragraphs
}

// Mailing is an e-mail to a segment. The counts are the current ones.
type Mailing struct {
	ID         string
	Kind       Kind
	Preview    bool // to its author only
	Segment    MemberSegment
	Texts      []Text // the first is for members whose language is unknown or has no text; none for reminders
	State      State
	Matched    int64 // members in the segment when it was created
	Excluded   int64 // of these, without consent; for reminders, those that need none or were reminded before
	Queued     int64 // e-mails made so far
	Delivered  int64 // accepted by the mail server
	Failed     int64
	Skipped    int64 // not sent: cancelled, consent withdrawn, or expired
	CreatedAt  time.Time
	CreatedBy  string
	FinishedAt time.Time // zero while it is sent
}

// New is the input of Send.
type New struct {
	Kind        Kind
	Segment     MemberSegment
	Texts       []Text
	ClientTxnID string
}

// Errors of mailings.
var (
	ErrMailing      = fault.New(fault.NotFound, "mailing_not_found", "Mailing not found.")
	ErrEnded        = fault.New(fault.Conflict, "mailing_ended", "This mailing has ended already.")
	ErrKeyUsed      = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another mailing.")
	ErrNoRecipients = fault.New(fault.Conflict, "mailing_without_recipients",
		"This group has no recipients: its members have not agreed to news, or need no reminder.")
	ErrTooLarge = fault.Newf(fault.Invalid, "mailing_too_large",
		"A mailing has at most %d recipients. Please choose a smaller group.", MaxRecipients)
	ErrNoMail = fault.New(fault.Conflict, "mail_not_set_up",
		"E-mails cannot be sent yet. Set up the mail server in the settings.")
	ErrNoURL = fault.New(fault.Conflict, "public_url_missing",
		"Set the public address of the restaurant in the settings first. Links in e-mails need it.")
	ErrOwnAddress = fault.New(fault.Conflict, "own_address_missing", "Your account has no e-mail address for a preview.")
)

func invalid(field, format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...).With("field", field)
}

// normalized returns the request as it is stored, or the first validation error.
func (n New) normalized() (New, error) {
	if n.Segment.InactiveDays < 0 || n.Segment.InactiveDays > MaxInactiveDays {
		return n, invalid("inactiveDays", "inactiveDays is between 0 and %d.", MaxInactiveDays)
	}
	if n.Kind == Reminder {
		n.Texts = nil
		return n, nil
	}
	n.Texts = slices.Clone(n.Texts)
	for i, t := range n.Texts {
		t.Subject, t.Text = strings.TrimSpace(t.Subject), strings.TrimSpace(t.Text)
		switch before := n.Texts[:i]; {
		case !slices.Contains(mail.Locales(), t.Locale):
			return n, invalid("locale", "There are e-mails in English, Vietnamese and Traditional Chinese only.")
		case slices.ContainsFunc(before, func(o Text) bool { return o.Locale == t.Locale }):
			return n, invalid("locale", "Each language can have one text.")
		case t.Subject == "" || utf8.RuneCountInString(t.Subject) > maxSubject || strings.ContainsRune(t.Subject, '\n'):
			return n, invalid("subject", "A subject is a line of 1 to %d characters.", maxSubject)
		case t.Text == "" || utf8.RuneCountInString(t.Text) > maxText:
			return n, invalid("text", "A text has 1 to %d characters.", maxText)
		}
		for line := range strings.SplitSeq(t.Text, "\n") {
			if utf8.RuneCountInString(line) > maxLine {
				return n, invalid("text", "A paragraph has at most %d characters.", maxLine)
			}
		}
		n.Texts[i] = t
	}
	if len(n.Texts) == 0 {
		return n, invalid("texts", "A mailing needs a text in at least one language.")
	}
	return n, nil
}

// digest identifies the content of the request. A repetition has the same one.
func (n New) digest() string {
	content, _ := json.Marshal([]any{n.Kind, n.Segment, n.Texts}) // such values always marshal
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// Store stores mailings, normally mailingsql.
type Store interface {
	// Create stores a mailing and its audit entry, or returns the one that the same author has created with the same
	// clientTxnId. It counts the segment in the same transaction and returns ErrNoRecipients, ErrTooLarge or ErrKeyUsed.
	Create(ctx context.Context, by authz.Actor, m Mailing, clientTxnID, digest string) (stored Mailing, isNew bool, err error)
	// Preview stores a mailing to its author and queues its e-mails, one in each language.
	Preview(ctx context.Context, by authz.Actor, m Mailing, digest string) error
	// Mailings returns a page, newest first, and the number of all. Previews are not among them.
	Mailings(ctx context.Context, limit, offset int) ([]Mailing, int64, error)
	// Cancel ends a mailing and deletes its e-mails that wait. It returns ErrMailing or ErrEnded.
	Cancel(ctx context.Context, by authz.Actor, id string, now time.Time) (Mailing, error)
}

// Service sends mailings.
type Service struct {
	Store Store
	// CanSend returns ErrNoMail or ErrNoURL if the restaurant cannot send mailings.
	CanSend func() error
	Now     func() time.Time
}

// Send creates a mailing, which a loop then sends.
func (s *Service) Send(ctx context.Context, by authz.Actor, n New) (m Mailing, isNew bool, err error) {
	if n, err = n.normalized(); err != nil {
		return m, false, err
	}
	if err := s.CanSend(); err != nil {
		return m, false, err
	}
	return s.Store.Create(ctx, by, s.mailing(by, n), n.ClientTxnID, n.digest())
}

// Preview sends the e-mails of a mailing to the actor, one in each language.
func (s *Service) Preview(ctx context.Context, by authz.Actor, n New) error {
	n, err := n.normalized()
	if err != nil {
		return err
	}
	if err := s.CanSend(); err != nil {
		return err
	}
	m := s.mailing(by, n)
	m.Preview = true
	return s.Store.Preview(ctx, by, m, n.digest())
}

func (s *Service) mailing(by authz.Actor, n New) Mailing {
	now := s.Now()
	return Mailing{
		ID: uid.New(now), Kind: n.Kind, Segment: n.Segment, Texts: n.Texts, State: Sending, CreatedAt: now, CreatedBy: by.String(),
	}
}

// Mailings returns a page of mailings, newest first, and the number of all.
func (s *Service) Mailings(ctx context.Context, limit, offset int) ([]Mailing, int64, error) {
	return s.Store.Mailings(ctx, limit, offset)
}

// Cancel ends a mailing. E-mails that are being sent at that moment may still arrive (N5).
func (s *Service) Cancel(ctx context.Context, by authz.Actor, id string) (Mailing, error) {
	return s.Store.Cancel(ctx, by, id, s.Now())
}

// Locale returns the language of a member's e-mail: that of the member, if there is a text in it.
func (m Mailing) Locale(member string) string {
	if m.Kind == Reminder {
		if slices.Contains(mail.Locales(), member) {
			return member
		}
		return mail.Locales()[0]
	}
	for _, t := range m.Texts {
		if t.Locale == member {
			return member
		}
	}
	return m.Texts[0].Locale
}

// text returns the text in a locale.
func (m Mailing) text(locale string) (Text, bool) {
	i := slices.IndexFunc(m.Texts, func(t Text) bool { return t.Locale == locale })
	if i < 0 {
		return Text{}, false
	}
	return m.Texts[i], true
}

// Recipient is an e-mail of a mailing and what its account is now.
type Recipient struct {
	Mailing Mailing
	UserID  int64
	Name    string
	Email   string // empty if the account has none
	Wanted  bool   // the account is active and agrees, or for reminders, is still not registered
}

// SenderInfo has the details of the restaurant that mailings show.
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
