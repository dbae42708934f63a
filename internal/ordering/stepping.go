package ordering

import (
	"context"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/identity"
)

// step moves an order forward or back in the kitchen. If the order is already there, it returns the current state.
func (b *Batch) step(s *Step) Result {
	o := b.Orders[s.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	path, err := o.path(s, b.Now)
	if err != nil {
		return Result{Order: *o, Err: err}
	}
	for _, to := range path { // each stage has its own version, event and record
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
	o.Items = slices.Clone(o.Items) // earlier results of this batch share the slice
	o.Items[m.Index].DoneAt = at
	b.Marks[Line{o.ID, m.Index}] = at
	b.show(o)
	return Result{Order: *o, Changed: true}
}

// Line identifies a line of an order by its index in Order.Items.
type Line struct {
	OrderID string
	Index   int
}

// Step moves an order forward or back in the kitchen, for an actor who may see its branch. If the order is already
// there or further, it returns the current state.
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

// MarkItem marks a line of an order as done or not done, for all screens. It is idempotent.
func (s *Service) MarkItem(ctx context.Context, by identity.Actor, m MarkItem) (Order, error) {
	if _, err := s.StaffOrder(ctx, by, m.OrderID); err != nil {
		return Order{}, err
	}
	r, err := s.Ledger.Do(ctx, Command{Mark: &m})
	return r.Order, err
}
