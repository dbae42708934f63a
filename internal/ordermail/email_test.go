package ordermail_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/mail"
	"comanda/internal/ordermail"
	"comanda/internal/testenv"
)

// Every kind has a template, and only the events of the table cause it. A recall causes no e-mail.
func TestNoticesOf(t *testing.T) {
	progressed := func(from, to string) event.Event {
		return event.OrderProgressed.New(noon, "o1", 3, 1, event.Progressed{OrderID: "o1", From: from, To: to})
	}
	canceled := func(reason string) event.Event {
		return event.OrderCanceled.New(noon, "o1", 3, 1, event.Canceled{OrderID: "o1", Reason: reason})
	}
	refunded := func(id string) event.Event {
		return event.OrderRefunded.New(noon, "o1", 3, 1, event.RefundDue{OrderID: "o1", RefundID: id})
	}
	email := func(k ordermail.Kind, subject string) []ordermail.OrderEmail {
		return []ordermail.OrderEmail{{OrderID: "o1", Kind: k, Subject: subject}}
	}
	placed := event.OrderPlaced.New(noon, "o1", 1, 1, event.Placed{OrderID: "o1"})
	for name, c := range map[string]struct {
		events []event.Event
		want   []ordermail.OrderEmail
	}{
		"placed":          {[]event.Event{placed}, email(ordermail.Received, "")},
		"repeated":        {[]event.Event{placed, placed}, email(ordermail.Received, "")},
		"paid":            {[]event.Event{event.OrderPaid.New(noon, "o1", 2, 1, event.Paid{})}, email(ordermail.Paid, "")},
		"by the guest":    {[]event.Event{canceled("USER_CANCELED")}, email(ordermail.Canceled, "")},
		"by the staff":    {[]event.Event{canceled("STAFF_CANCELED")}, email(ordermail.Canceled, "")},
		"expired":         {[]event.Event{canceled("EXPIRED")}, email(ordermail.Expired, "")},
		"refunded":        {[]event.Event{refunded("r1")}, email(ordermail.Refunded, "r1")},
		"refunded twice":  {[]event.Event{refunded("r2"), refunded("r1")}, append(email(ordermail.Refunded, "r1"), email(ordermail.Refunded, "r2")...)},
		"refund due":      {[]event.Event{event.OrderRefundDue.New(noon, "o1", 3, 1, event.RefundDue{})}, nil},
		"ready":           {[]event.Event{progressed("PREPARING", "READY")}, email(ordermail.Ready, "")},
		"started":         {[]event.Event{progressed("ACCEPTED", "PREPARING")}, nil},
		"recalled":        {[]event.Event{progressed("SERVED", "READY")}, nil},
		"recalled pickup": {[]event.Event{progressed("COMPLETED", "READY")}, nil},
		"several orders": {
			[]event.Event{event.OrderPaid.New(noon, "o2", 2, 1, event.Paid{}), placed},
			[]ordermail.OrderEmail{{OrderID: "o1", Kind: ordermail.Received}, {OrderID: "o2", Kind: ordermail.Paid}},
		},
	} {
		if diff := cmp.Diff(c.want, testenv.Must(ordermail.EmailsFor(c.events))(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, k := range ordermail.Kinds() {
		if !slices.Contains(mail.OrderTemplates(), k.Template()) || k.TTL() <= 0 {
			t.Errorf("%s has no template or is never sent", k)
		}
	}
	if len(ordermail.Kinds()) != len(mail.OrderTemplates()) {
		t.Error("there are templates without a kind")
	}
}

func TestNoticesOf_unreadable(t *testing.T) {
	for _, k := range []string{event.OrderCanceled.Name, event.OrderRefunded.Name, event.OrderProgressed.Name} {
		if _, err := ordermail.EmailsFor([]event.Event{{Type: k, Payload: []byte("[")}}); err == nil {
			t.Errorf("an unreadable %s is accepted", k)
		}
	}
}

// L2, L3.
func TestCustomer(t *testing.T) {
	both := ordermail.Customer{Email: "a@x.example", AccountEmail: "b@x.example"}
	off := both
	off.NoReceived, off.NoReady = true, true
	for _, k := range ordermail.Kinds() {
		if got := both.Recipient(k); got != both.Email {
			t.Errorf("%s goes to %q, want the address of the order", k, got)
		}
		if got := (ordermail.Customer{AccountEmail: "b@x.example"}).Recipient(k); got != "b@x.example" {
			t.Errorf("%s goes to %q, want the address of the account", k, got)
		}
		if got := (ordermail.Customer{}).Recipient(k); got != "" {
			t.Errorf("%s goes to %q, want no recipient", k, got)
		}
		if sent := off.Recipient(k) != ""; sent == k.Optional() {
			t.Errorf("%s is sent although it is turned off: %t", k, sent)
		}
	}
	for want, c := range map[string]ordermail.Customer{
		"zh-TW": {Locale: catalog.Chinese, Locales: []catalog.Locale{catalog.Vietnamese}},
		"vi":    {Locales: []catalog.Locale{catalog.Japanese, catalog.Vietnamese, catalog.English}},
		"en":    {Locales: []catalog.Locale{catalog.Thai}},
	} {
		testenv.Equal(t, c.Language(), want)
	}
}
