package ordermail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/mail"
	"comanda/internal/ordering"
)

// Consumer is the name of the consumer that queues the e-mails.
const Consumer = "order_mail"

// Kind is the subject of an e-mail about an order. The values are stored.
type Kind string

// Kinds of e-mails.
const (
	Received Kind = "RECEIVED"
	Paid     Kind = "PAID" // the receipt
	Canceled Kind = "CANCELED"
	Expired  Kind = "EXPIRED"
	Refunded Kind = "REFUNDED"
	Ready    Kind = "READY"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Received, Paid, Canceled, Expired, Refunded, Ready} }

// Template returns the name of the kind's template.
func (k Kind) Template() string { return "order_" + strings.ToLower(string(k)) }

// kindOf returns the kind of a template.
func kindOf(template string) Kind {
	return Kind(strings.ToUpper(strings.TrimPrefix(template, "order_")))
}

// Optional reports whether members can turn the e-mails off (L3).
func (k Kind) Optional() bool { return k == Received || k == Ready }

// TTL returns how long an e-mail is worth sending. That a meal was ready this morning is of no use in the evening.
func (k Kind) TTL() time.Duration {
	switch k {
	case Ready:
		return 2 * time.Hour
	case Received:
		return 24 * time.Hour
	default:
		return 7 * 24 * time.Hour
	}
}

// Types returns the types of the events that call for an e-mail.
func Types() []string {
	return []string{
		event.OrderPlaced.Name, event.OrderPaid.Name, event.OrderCanceled.Name, event.OrderRefunded.Name,
		event.OrderProgressed.Name,
	}
}

// OrderEmail is an e-mail that an event calls for. It identifies the e-mail: equal emails are sent once (L1).
type OrderEmail struct {
	OrderID string
	Kind    Kind
	Subject string // id of the refund; empty for other kinds
}

// EmailsFor returns the e-mails that events call for, without repetitions, by order. A kitchen that recalls an order and
// finishes it again calls for the same e-mail again.
func EmailsFor(events []event.Event) ([]OrderEmail, error) {
	var all []OrderEmail
	for _, e := range events {
		n := OrderEmail{OrderID: e.AggregateID}
		switch e.Type {
		case event.OrderPlaced.Name:
			n.Kind = Received
		case event.OrderPaid.Name:
			n.Kind = Paid
		case event.OrderCanceled.Name:
			p, err := event.OrderCanceled.Decode(e)
			if err != nil {
				return nil, err
			}
			if n.Kind = Canceled; p.Reason == string(ordering.Expired) {
				n.Kind = Expired
			}
		case event.OrderRefunded.Name:
			p, err := event.OrderRefunded.Decode(e)
			if err != nil {
				return nil, err
			}
			n.Kind, n.Subject = Refunded, p.RefundID
		case event.OrderProgressed.Name:
			p, err := event.OrderProgressed.Decode(e)
			if err != nil {
				return nil, err
			}
			if p.To != string(ordering.Ready) || p.From == string(ordering.Served) || p.From == string(ordering.Completed) {
				continue
			}
			n.Kind = Ready
		default:
			continue
		}
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b OrderEmail) int {
		return cmp.Or(cmp.Compare(a.OrderID, b.OrderID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return slices.Compact(all), nil
}

// Customer has the fields of an order and its member that decide about its e-mails.
type Customer struct {
	OrderID      string
	Branch       int64
	Locales      []catalog.Locale // of the branch
	Email        string           // entered with the order
	AccountEmail string           // verified address of an active account
	Locale       catalog.Locale   // the member's; empty for none
	NoReceived   bool
	NoReady      bool
}

// Recipient returns the address of an e-mail, or an empty text if none is to be sent (L2, L3).
func (c Customer) Recipient(k Kind) string {
	if k == Received && c.NoReceived || k == Ready && c.NoReady {
		return ""
	}
	return cmp.Or(c.Email, c.AccountEmail)
}

// Language returns the language of the e-mails: the member's, else the first of the branch in which there are e-mails,
// else English.
func (c Customer) Language() string {
	for _, l := range append([]catalog.Locale{c.Locale}, c.Locales...) {
		if slices.Contains(mail.Locales(), string(l)) {
			return string(l)
		}
	}
	return string(catalog.English)
}
