package notice

import (
	"strconv"
	"time"

	"comanda/internal/event"
	"comanda/internal/ordering"
)

// ConsumerName is the name of the consumer that makes the notices.
const ConsumerName = "notices"

// Types returns the types of the events that make notices.
func Types() []string {
	return []string{
		event.OrderPaid.Name, event.OrderCanceled.Name, event.OrderRefunded.Name, event.OrderRefundDue.Name,
		event.OrderAmountMismatch.Name, event.OrderProgressed.Name, event.InventoryLow.Name, event.VisitCalled.Name,
	}
}

// Candidate is a notice that an event calls for, before its audience is known.
type Candidate struct {
	EventID string
	Kind    Kind
	Branch  int64
	OrderID string
	SKU     string // of the stock item, whose name fills Data.Item
	Data    Data
	At      time.Time
}

// Candidates returns what events call for, in their order.
func Candidates(events []event.Event) ([]Candidate, error) {
	var all []Candidate
	for _, e := range events {
		d, wanted, err := candidate(e)
		if err != nil {
			return nil, err
		}
		if wanted {
			all = append(all, d)
		}
	}
	return all, nil
}

// candidate returns the notice of an event, and whether it has one. Events of other types have none.
func candidate(e event.Event) (d Candidate, wanted bool, err error) {
	d = Candidate{EventID: e.ID, Branch: e.BranchID, OrderID: e.AggregateID, At: e.At}
	switch e.Type {
	case event.OrderPaid.Name:
		d.Kind, wanted = OrderPaid, true
	case event.OrderCanceled.Name:
		p, err := event.OrderCanceled.Decode(e)
		if d.Kind = OrderCanceled; p.Reason == string(ordering.Expired) {
			d.Kind = OrderExpired
		}
		// Guests who cancel an order themselves know it.
		return d, p.Reason != string(ordering.UserCanceled), err
	case event.OrderRefunded.Name:
		p, err := event.OrderRefunded.Decode(e)
		d.Kind, d.Data.Amount, d.Data.Currency = OrderRefunded, p.Amount, string(p.Currency)
		return d, true, err
	case event.OrderRefundDue.Name:
		p, err := event.OrderRefundDue.Decode(e)
		d.Kind, d.Data.Amount, d.Data.Currency = RefundDue, p.Amount, string(p.Currency)
		return d, true, err
	case event.OrderAmountMismatch.Name:
		p, err := event.OrderAmountMismatch.Decode(e)
		// Gateways repeat a report many times; one notice for each amount is enough.
		d.EventID = "mismatch:" + p.AttemptID + ":" + strconv.FormatInt(p.Reported, 10) + string(p.Currency)
		d.Kind, d.Data.Amount, d.Data.Currency = Mismatch, p.Reported, string(p.Currency)
		return d, true, err
	case event.OrderProgressed.Name:
		p, err := event.OrderProgressed.Decode(e)
		d.Kind = OrderReady
		// An order that was handed over and is recalled is not ready for a second time.
		recalled := p.From == string(ordering.Served) || p.From == string(ordering.Completed)
		return d, p.To == string(ordering.Ready) && !recalled, err
	case event.InventoryLow.Name:
		p, err := event.InventoryLow.Decode(e)
		d.Kind, d.OrderID, d.SKU, d.Data.Item, d.Data.Left = StockLow, "", p.ItemID, p.ItemID, p.Available
		return d, true, err
	case event.VisitCalled.Name:
		p, err := event.VisitCalled.Decode(e)
		d.Kind, d.OrderID, d.Data.Table, d.Data.Reason = TableCall, "", p.Table, p.Reason
		return d, true, err
	}
	return d, wanted, nil
}

// OrderInfo has the fields of an order that decide who gets its notices.
type OrderInfo struct {
	ID       string
	Number   int64
	Kind     string
	UserID   int64  // 0 for an order of a table
	VisitID  string // empty for an order of a member
	Returned bool   // its money goes back or has gone back
}

// ForOrder returns the notice of a candidate about an order. wanted is false if it is not needed: a meal whose money goes
// back is not handed over.
func (c Candidate) ForOrder(o OrderInfo) (n UserNotice, wanted bool) {
	n = c.notice()
	n.OrderID, n.Data.Number, n.Data.OrderKind = o.ID, ordering.ShortNumber(o.Number), o.Kind
	switch {
	case c.Kind == RefundDue, c.Kind == Mismatch:
		n.Audience = BranchAudience(c.Branch)
	case o.UserID != 0:
		n.Audience = AccountAudience(o.UserID)
	case o.VisitID != "":
		n.Audience = VisitAudience(o.VisitID)
	}
	return n, n.Audience != "" && (c.Kind != OrderReady || !o.Returned)
}

// ForBranch returns the notice of a candidate for the staff. item is the name of the stock item, if it has one.
func (c Candidate) ForBranch(item string) UserNotice {
	n := c.notice()
	n.Audience = BranchAudience(c.Branch)
	if item != "" {
		n.Data.Item = item
	}
	return n
}

func (c Candidate) notice() UserNotice {
	return UserNotice{Kind: c.Kind, EventID: c.EventID, Branch: c.Branch, Data: c.Data, CreatedAt: c.At}
}
