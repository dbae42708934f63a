package ordering

import (
	"context"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Who needs longer to pay than the window gives may have five minutes more, twice. WCAG 2.2's criterion 2.2.1 wants ten
// times or a good reason: the reason is that nobody else can have the dishes meanwhile.
const (
	prolongBy   = 5 * time.Minute
	prolongMost = 2
)

// ErrNoMoreTime says that an order has been given all the time that there is.
var ErrNoMoreTime = fault.New(fault.Conflict, "no_more_time", "There is no more time to be had; pay now, or order again.")

// Prolong gives whoever pays an order more time.
type Prolong struct {
	OrderID string
	PayBy   time.Time // the deadline that was to be moved; another one has been moved already
}

// MoreTime tells how often an order's deadline can still be moved.
func (o *Order) MoreTime() int {
	if o.PaymentStatus != Unpaid {
		return 0
	}
	return max(0, prolongMost-o.Prolonged)
}

// prolong moves an order's deadlines. Asking again for the same is answered with what was given (I11): a phone that has
// lost the answer must not use the time up.
func (b *Batch) prolong(p *Prolong) Result {
	o := b.Orders[p.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	case o.PayBy.UnixMilli() != p.PayBy.UnixMilli():
		return Result{Order: *o}
	case !b.Now.Before(o.ExpiresAt): // whoever ends it is on the way, and may have told others already
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

// MoreTime moves the deadline of an unpaid order from payBy to five minutes later, for the phone that placed it.
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
