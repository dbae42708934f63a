package ordering

import (
	"context"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Extensions of the payment deadline: two of five minutes. WCAG 2.2, success criterion 2.2.1, asks for ten unless
// there is a good reason; here it is that the held dishes cannot be sold to others meanwhile.
const (
	prolongBy   = 5 * time.Minute
	prolongMost = 2
)

// ErrNoMoreTime reports that an order has used all extensions of its deadline.
var ErrNoMoreTime = fault.New(fault.Conflict, "no_more_time", "There is no more time to be had; pay now, or order again.")

// Prolong extends the deadline of an unpaid order.
type Prolong struct {
	OrderID string
	PayBy   time.Time // the deadline that the client saw; if the order's differs, it has moved already
}

// MoreTime returns how often the deadline can still be extended.
func (o *Order) MoreTime() int {
	if o.PaymentStatus != Unpaid {
		return 0
	}
	return max(0, prolongMost-o.Prolonged)
}

// prolong extends an order's deadlines. It is idempotent by the deadline that the client saw (I11): a phone that lost
// the response must not use up an extension.
func (b *Batch) prolong(p *Prolong) Result {
	o := b.Orders[p.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	case o.PayBy.UnixMilli() != p.PayBy.UnixMilli():
		return Result{Order: *o}
	case !b.Now.Before(o.ExpiresAt): // the sweeper may be expiring it already
		return Result{Order: *o, Err: ErrTooLate}
	case o.MoreTime() == 0:
		return Result{Order: *o, Err: ErrNoMoreTime}
	}
	o.PayBy, o.ExpiresAt = o.PayBy.Add(prolongBy), o.ExpiresAt.Add(prolongBy)
	o.Prolonged++
	b.Extended[o.HoldID] = o.ExpiresAt
	b.show(o)
	return Result{Order: *o, Changed: true}
}

// MoreTime extends the deadline payBy of an unpaid order by five minutes, for the phone that placed it.
func (s *Service) MoreTime(ctx context.Context, g Guest, id string, payBy time.Time) (Detail, error) {
	d, err := s.visible(ctx, g, id)
	if err != nil {
		return Detail{}, err
	}
	if d.GuestHash != g.Hash {
		return Detail{}, fault.New(fault.Forbidden, "not_your_order", "Only the phone that placed the order can ask for time.")
	}
	return s.prolong(ctx, d, payBy)
}

// MemberMoreTime is MoreTime for a member's own order.
func (s *Service) MemberMoreTime(ctx context.Context, who identity.Actor, id string, payBy time.Time) (Detail, error) {
	d, err := s.MemberOrder(ctx, who, id)
	if err != nil {
		return Detail{}, err
	}
	return s.prolong(ctx, d, payBy)
}

func (s *Service) prolong(ctx context.Context, d Detail, payBy time.Time) (Detail, error) {
	r, err := s.Ledger.Do(ctx, Command{Prolong: &Prolong{OrderID: d.ID, PayBy: payBy}})
	if err != nil {
		return Detail{}, err
	}
	r.Order.Items = d.Items
	d.Order = r.Order
	return d, nil
}
