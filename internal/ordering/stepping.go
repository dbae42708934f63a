package ordering

import (
	"context"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/identity"
)

// step takes an order on in the kitchen, or back. What is there already is answered as it is.
func (b *Batch) step(s *Step) Result {
	o := b.Orders[s.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	path, err := o.path(s, b.Now)
	if err != nil {
		return Result{Order: *o, Err: err}
	}
	for _, to := range path { // each stage under a version of its own, so that each has its event and its record
		b.stepTo(o, to, s.By)
	}
	return Result{Order: *o, Changed: len(path) > 0}
}

func (b *Batch) stepTo(o *Order, to Status, by identity.Actor) {
	from := o.Status
	if o.VoidSeen {
		from = Voided
	}
	if o.VoidSeen = to == Voided; !o.VoidSeen {
		o.Status = to
	}
	o.SteppedAt = b.Now
	o.touch(b.Now)
	b.change(o)
	b.Steps = append(b.Steps, StepTaken{o.ID, o.Version, b.Now, from, to, by.String()})
	b.publish(event.OrderProgressed.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Progressed{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, From: string(from), To: string(to),
	}))
}

func (b *Batch) mark(m *MarkItem) Result {
	o := b.Orders[m.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	if err := o.markable(m); err != nil {
		return Result{Order: *o, Err: err}
	}
	var at time.Time
	switch is := !o.Items[m.Index].DoneAt.IsZero(); {
	case is == m.Done:
		return Result{Order: *o}
	case m.Version != 0 && m.Version != o.Version:
		return Result{Order: *o, Err: o.refuse(ErrChanged)}
	case m.Done:
		at = b.Now
	}
	o.Items = slices.Clone(o.Items) // earlier results of this batch have the others
	o.Items[m.Index].DoneAt = at
	b.Marks[Line{o.ID, m.Index}] = at
	b.show(o)
	return Result{Order: *o, Changed: true}
}

// Line names a line of an order by its place in Order.Items.
type Line struct {
	OrderID string
	Index   int
}

// Step takes an order of a branch that the actor sees on in the kitchen, or back. An order that has got there before, or
// further, is answered as it is.
func (s *Service) Step(ctx context.Context, by identity.Actor, st Step) (Order, error) {
	d, err := s.StaffOrder(ctx, by, st.OrderID)
	if err != nil {
		return Order{}, err
	}
	branch, err := s.Catalog.Branch(ctx, d.Scope.Branch)
	if err != nil {
		return Order{}, err
	}
	st.By, st.Today = by, branch.Calendar().BizDate(s.Now())
	r, err := s.Ledger.Do(ctx, Command{Step: &st})
	if err == nil && r.Changed {
		s.Metrics.stepped(st.Kind)
	}
	return r.Order, err
}

// MarkItem ticks a line of an order off for all screens, or on again. A line that is so already is answered as it is.
func (s *Service) MarkItem(ctx context.Context, by identity.Actor, m MarkItem) (Order, error) {
	if _, err := s.StaffOrder(ctx, by, m.OrderID); err != nil {
		return Order{}, err
	}
	r, err := s.Ledger.Do(ctx, Command{Mark: &m})
	return r.Order, err
}
