package ordering

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/fault"
)

// StepKind is a kitchen or service action on a paid order. Orders store the statuses that steps lead to, not the steps.
type StepKind string

// Kinds of steps.
const (
	Accept StepKind = "ACCEPT" // the kitchen has seen the order
	Start  StepKind = "START"  // cooking; from PLACED it also passes ACCEPTED, so that it takes one tap
	Done   StepKind = "READY"  // ready to be served or picked up
	Serve  StepKind = "SERVE"  // served or handed over: the last step
	Recall StepKind = "RECALL" // one step back
)

// Voided marks, in the record of steps, that the kitchen has acknowledged the refund of an order. The order itself
// keeps its status.
const Voided Status = "VOIDED"

// Time limits for recalling a served order: recallFor on its business date, and shownServed on any date, because
// boards show served orders that long. After that, guests no longer ask for a missing dish.
const (
	recallFor   = 12 * time.Hour
	shownServed = 30 * time.Minute
)

// Step moves an order one step in the kitchen. Version refuses a tap on a ticket that has changed since the screen
// read it.
type Step struct {
	OrderID string
	Kind    StepKind
	Version int64 // the version of the order that the client saw; 0: not checked
	By      authz.Actor
	Today   string // the branch's current business date, for a recall
}

// MarkItem marks a line of an order as done or not done.
type MarkItem struct {
	OrderID string
	Index   int // index in Order.Items
	Done    bool
	Version int64 // as in Step
}

// StepTaken is a recorded step. Each stage has its own row, even if one tap passes two stages. Rows never change: a
// recall adds another row.
type StepTaken struct {
	OrderID  string
	Version  int64 // the order's version after the step
	At       time.Time
	From, To Status
	By       string // the actor
}

// Errors of steps. ErrWrongStep and ErrChanged carry the order's current orderStatus and version.
var (
	ErrNotPaid   = fault.New(fault.Conflict, "not_paid", "This order has not been paid yet.")
	ErrWrongStep = fault.New(fault.Conflict, "wrong_step", "This order has already moved on.")
	errNotBegun  = fault.New(fault.Conflict, "wrong_step", "This order has not been started yet. Start it first.")
	errNotReady  = fault.New(fault.Conflict, "wrong_step", "This order is not ready yet. Mark it as ready first.")
	ErrChanged   = fault.New(fault.Conflict, "changed", "The order has changed. Reload it.")
	ErrVoided    = fault.New(fault.Conflict, "voided",
		"This order has been refunded. Reload it, then dismiss it.")
	ErrRecallOver = fault.New(fault.Conflict, "recall_over", "This order was served too long ago to undo.")
	ErrLine       = fault.New(fault.NotFound, "order_line_not_found", "Order line not found.")
)

// stages returns the statuses that the order passes in the kitchen, in order. CANCELED is not among them: an ended
// order is not in the kitchen.
func (o *Order) stages() []Status {
	last := Completed
	if o.Kind == DineIn {
		last = Served
	}
	return []Status{Placed, Accepted, Preparing, Ready, last}
}

// aims maps a step to its target and to the first stage it may be taken from, as indexes of stages.
var aims = map[StepKind]struct{ to, from int }{Accept: {1, 0}, Start: {2, 0}, Done: {3, 2}, Serve: {4, 3}}

// served reports whether the order has reached its last stage.
func (o *Order) served() bool { return o.Status == Served || o.Status == Completed }

// Voided reports whether the order's money is refunded or being refunded in full.
func (o *Order) Voided() bool { return o.PaymentStatus == RefundDue || o.PaymentStatus == Refunded }

// path returns the stages that a step leads through, and none if the order is already there. The order of the cases
// matters: a repeated step must succeed before its version is compared, because the first one has raised it.
func (o *Order) path(s *Step, now time.Time) ([]Status, error) {
	stages := o.stages()
	at := slices.Index(stages, o.Status)
	aim := aims[s.Kind]
	stale := s.Version != 0 && s.Version != o.Version
	switch {
	case at < 0:
		return nil, o.refuse(ErrWrongStep)
	case o.PaymentStatus != Paid && !o.Voided():
		return nil, o.refuse(ErrNotPaid)
	case s.Kind == Recall && stale:
		return nil, o.refuse(ErrChanged)
	case s.Kind == Recall:
		return o.recallTarget(stages, at, s.Today, now)
	// The ticket is off the board. A tap from an outdated screen changes nothing.
	case o.served() || o.VoidSeen:
		return nil, nil
	case o.Voided() && s.Version == 0: // a tap meant for a dish must not clear the ticket
		return nil, o.refuse(ErrVoided)
	// Any step but a recall clears a voided ticket; it is recorded as Voided, and the status stays.
	case o.Voided() && !stale:
		return []Status{Voided}, nil
	// Another screen has already taken this step, so the order has the requested status.
	case !o.Voided() && at >= aim.to:
		return nil, nil
	case stale:
		return nil, o.refuse(ErrChanged)
	case at < aim.from && at < aims[Done].from:
		return nil, o.refuse(errNotBegun)
	case at < aim.from:
		return nil, o.refuse(errNotReady)
	}
	return stages[at+1 : aim.to+1], nil
}

// recallTarget returns the status that a recall leads to. A ticket that was cleared because of its refund returns to
// its own status. The limits apply to served and cleared tickets only; others may go back at any time.
func (o *Order) recallTarget(stages []Status, at int, today string, now time.Time) ([]Status, error) {
	ago := now.Sub(o.SteppedAt)
	late := ago > shownServed && (o.Scope.Date != today || ago > recallFor)
	switch {
	case (o.served() || o.VoidSeen) && late:
		return nil, o.refuse(ErrRecallOver)
	case o.VoidSeen:
		return []Status{o.Status}, nil
	case at == 0, o.Voided() && !o.served():
		return nil, o.refuse(ErrWrongStep)
	}
	return stages[at-1 : at], nil
}

// markable returns an error if a line cannot be marked. Lines of voided tickets cannot be marked, because none of them
// is cooked.
func (o *Order) markable(m *MarkItem) error {
	switch {
	case m.Index < 0 || m.Index >= len(o.Items):
		return ErrLine
	case !slices.Contains(o.stages(), o.Status) || o.served():
		return o.refuse(ErrWrongStep)
	case o.Voided():
		return o.refuse(ErrVoided)
	case o.PaymentStatus != Paid:
		return o.refuse(ErrNotPaid)
	}
	return nil
}

// refuse returns f with the order's current status and version, so that the screen can show them.
func (o *Order) refuse(f *fault.Error) error {
	return f.With("orderStatus", o.Status).With("version", o.Version)
}

// EffectiveSteps returns the steps that have not been recalled, as timelines show them. A recall removes the step that it
// reverses. Voided is omitted, because it is not a step.
func EffectiveSteps(steps []StepTaken) []StepTaken {
	var all []StepTaken
	for _, s := range steps {
		last := len(all) - 1
		switch {
		case s.To == Voided || s.From == Voided:
		case last >= 0 && all[last].From == s.To:
			all = all[:last]
		default:
			all = append(all, s)
		}
	}
	return all
}

// Target implements Command.
func (s *Step) Target() string { return s.OrderID }

// decide moves an order forward or back in the kitchen. If the order is already there, it returns the current state.
func (s *Step) decide(b *Batch) Result {
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

// stepTo records one stage: status, version, step and event. Clearing a voided ticket sets VoidSeen and leaves the
// status, which shows how far the kitchen was.
func (b *Batch) stepTo(o *Order, to Status, by authz.Actor) {
	from := o.Status
	if o.VoidSeen {
		from = Voided
	}
	if o.VoidSeen = to == Voided; !o.VoidSeen {
		o.Status = to
	}
	o.SteppedAt = b.Now
	o.touch(b.Now)
	b.changed(o)
	b.Steps = append(b.Steps, StepTaken{o.ID, o.Version, b.Now, from, to, by.String()})
	b.publish(event.OrderProgressed.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.Progressed{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, From: string(from), To: string(to),
	}))
}

// Target implements Command.
func (m *MarkItem) Target() string { return m.OrderID }

// decide sets or removes the mark of one line. Setting a mark that is already set is not an error, even with an old
// version: another screen has set it.
func (m *MarkItem) decide(b *Batch) Result {
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
	b.touch(o)
	return Result{Order: *o, Changed: true}
}

// Line identifies a line of an order by its index in Order.Items.
type Line struct {
	OrderID string
	Index   int
}

// Step moves an order forward or back in the kitchen, for an actor who may see its branch. If the order is already
// there or further, it returns the current state.
func (s *Service) Step(ctx context.Context, by authz.Actor, st Step) (Order, error) {
	d, err := s.Order(ctx, Staff(by), st.OrderID)
	if err != nil {
		return Order{}, err
	}
	branch, err := s.Catalog.Branch(ctx, d.Scope.Branch)
	if err != nil {
		return Order{}, err
	}
	// The ledger has no calendar, so the command carries the business date.
	st.By, st.Today = by, branch.Calendar().BizDate(s.Now())
	r, err := s.Ledger.Do(ctx, &st)
	if err == nil && r.Changed {
		s.Metrics.stepped(st.Kind)
	}
	return r.Order, err
}

// MarkItem marks a line of an order as done or not done, for all screens. It is idempotent. Marks raise the order's
// version, so that boards show them, and publish no event.
func (s *Service) MarkItem(ctx context.Context, by authz.Actor, m MarkItem) (Order, error) {
	if _, err := s.Order(ctx, Staff(by), m.OrderID); err != nil {
		return Order{}, err
	}
	r, err := s.Ledger.Do(ctx, &m)
	return r.Order, err
}

const (
	// recentTickets and recentKitchen select the orders from which the kitchen's speed is estimated: the latest ones,
	// because the kitchen's load differs from hour to hour.
	recentTickets = 30
	recentKitchen = 2 * time.Hour
	// fewestTickets is the minimum number of ready orders for an estimate. With fewer, one forgotten ticket would
	// distort it.
	fewestTickets = 5
	// cookingTimeTTL is how long an estimate is reused. It limits a branch to one statement in this time, for any
	// number of guests.
	cookingTimeTTL = 30 * time.Second
)

// cookingTime estimates the time from payment to ready: 80 % of the recent orders took at most this long. With the
// average, half of the guests would wait longer than announced. It returns false if there are too few orders.
func cookingTime(took []time.Duration) (time.Duration, bool) {
	if len(took) < fewestTickets {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[(len(sorted)*4-1)/5], true
}

// expect sets when the kitchen will likely have a paid order ready. The time stays zero if the kitchen does not cook
// the order, has finished it, or has too few recent orders. The estimate is optional: after an error the order is
// returned without it.
func (s *Service) expect(ctx context.Context, d *Detail) {
	if d.PaymentStatus != Paid || d.Status != Placed && d.Status != Accepted && d.Status != Preparing {
		return
	}
	branch := d.Scope.Branch
	took, err := s.cookingTimes.Load(branch, s.Now, cookingTimeTTL, func() (time.Duration, error) {
		all, err := s.Reader.ReadyTimes(ctx, branch, s.Now().Add(-recentKitchen), recentTickets)
		took, ok := cookingTime(all)
		if err != nil || !ok {
			return 0, err
		}
		return took, nil
	})
	if err != nil {
		s.Log.WarnContext(ctx, "the cooking time of a branch is unknown", "branch", branch, "err", err)
		return
	}
	if took > 0 {
		d.ExpectedAt = d.PaidAt.Add(took)
	}
}
