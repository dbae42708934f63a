package notice_test

import (
	"testing"
	"time"

	"comanda/internal/event"
	"comanda/internal/notice"
	"comanda/internal/testenv"
)

// Each event calls for exactly the notice of the table, and for whom.
func TestCandidates(t *testing.T) {
	at := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	canceled := func(reason string) event.Event {
		return event.OrderCanceled.New(at, "o", 3, 1, event.Canceled{OrderID: "o", Reason: reason})
	}
	progressed := func(from, to string) event.Event {
		return event.OrderProgressed.New(at, "o", 3, 1, event.Progressed{OrderID: "o", From: from, To: to})
	}
	member, table := notice.OrderInfo{ID: "o", Number: 1, UserID: 7}, notice.OrderInfo{ID: "o", Number: 1, VisitID: "v"}
	returned := member
	returned.Returned = true
	for name, c := range map[string]struct {
		event event.Event
		order notice.OrderInfo
		kind  notice.Kind // empty for none
		to    notice.Audience
	}{
		"paid":                   {event.OrderPaid.New(at, "o", 2, 1, event.Paid{}), member, notice.OrderPaid, "7"},
		"paid at the table":      {event.OrderPaid.New(at, "o", 2, 1, event.Paid{}), table, notice.OrderPaid, "vv"},
		"ready":                  {progressed("PREPARING", "READY"), member, notice.OrderReady, "7"},
		"ready, but refunded":    {progressed("PREPARING", "READY"), returned, "", ""},
		"started":                {progressed("ACCEPTED", "PREPARING"), member, "", ""},
		"recalled":               {progressed("SERVED", "READY"), member, "", ""},
		"cancelled by the guest": {canceled("USER_CANCELED"), member, "", ""},
		"cancelled by the staff": {canceled("STAFF_CANCELED"), member, notice.OrderCanceled, "7"},
		"expired":                {canceled("EXPIRED"), table, notice.OrderExpired, "vv"},
		"refunded":               {event.OrderRefunded.New(at, "o", 3, 1, event.RefundDue{Amount: 5, Currency: "VND"}), returned, notice.OrderRefunded, "7"},
		"refund due":             {event.OrderRefundDue.New(at, "o", 3, 1, event.RefundDue{Amount: 5, Currency: "VND"}), member, notice.RefundDue, "b1"},
		"another amount": {
			event.OrderAmountMismatch.New(at, "o", 3, 1, event.Mismatched{AttemptID: "a", Reported: 5, Currency: "VND"}), member,
			notice.Mismatch, "b1",
		},
		"placed":                   {event.OrderPlaced.New(at, "o", 1, 1, event.Placed{}), member, "", ""},
		"order without a customer": {event.OrderPaid.New(at, "o", 2, 1, event.Paid{}), notice.OrderInfo{ID: "o", Number: 1}, "", ""},
	} {
		var got []notice.UserNotice
		for _, d := range testenv.Must(notice.Candidates([]event.Event{c.event}))(t) {
			if n, wanted := d.ForOrder(c.order); wanted {
				got = append(got, n)
			}
		}
		if c.kind == "" {
			if len(got) != 0 {
				t.Errorf("%s calls for %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Kind != c.kind || got[0].Audience != c.to || (got[0].EventID != c.event.ID) != (c.kind == notice.Mismatch) || got[0].Data.Number != "A-001" {
			t.Errorf("%s calls for %+v", name, got)
		}
	}
	for _, typ := range []string{"order.canceled", "order.refunded", "order.refund_due", "order.amount_mismatch", "order.progressed", "inventory.low", "visit.called"} {
		if _, err := notice.Candidates([]event.Event{{Type: typ, Payload: []byte("[")}}); err == nil {
			t.Errorf("an unreadable %s is accepted", typ)
		}
	}
}

// The page that a notification opens is that of the reader.
func TestPayloadOf(t *testing.T) {
	n := notice.UserNotice{ID: "n", Kind: notice.OrderReady, OrderID: "o", Data: notice.Data{Number: "A-001"}}
	got := map[notice.Audience]string{}
	for _, a := range []notice.Audience{notice.AccountAudience(7), notice.VisitAudience("x")} {
		n.Audience = a
		got[a] = notice.PayloadOf(n, "vi").URL
	}
	want := map[notice.Audience]string{"7": "/shop/orders/o", "vx": "/app/orders/o"}
	testenv.Equal(t, want, got)
}
