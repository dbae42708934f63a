package ordering

import (
	"slices"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// StepKind is what the kitchen and the waiters do with a paid order.
type StepKind string

// The kinds of steps.
const (
	Accept StepKind = "ACCEPT" // the kitchen has seen it
	Start  StepKind = "START"  // somebody cooks; from PLACED it passes through ACCEPTED, so that a bump is one tap
	Done   StepKind = "READY"  // it waits to be brought or fetched
	Serve  StepKind = "SERVE"  // it is at the table, or on its way: the last step
	Recall StepKind = "RECALL" // one step back
)

// Voided stands in the record of steps for "the kitchen has seen that the money went back". It is no status: the order
// keeps the one in which it stopped.
const Voided Status = "VOIDED"

// A served order can be recalled for recallFor on its business date, and for as long as boards show it at any time:
// longer than that nobody asks for a dish that did not come.
const (
	recallFor   = 12 * time.Hour
	shownServed = 30 * time.Minute
)

// Step is a step to be taken.
type Step struct {
	OrderID string
	Kind    StepKind
	Version int64 // of the order as whoever asks saw it; 0: not checked
	By      identity.Actor
	Today   string // the branch's business date now, for a recall
}

// MarkItem ticks a line of an order off, or on again.
type MarkItem struct {
	OrderID string
	Index   int // of Order.Items
	Done    bool
	Version int64 // as in Step
}

// StepTaken is a step in the record.
type StepTaken struct {
	OrderID  string
	Version  int64 // of the order, which it has reached with the step
	At       time.Time
	From, To Status
	By       string // the actor
}

// The faults of steps. ErrWrongStep and ErrChanged carry how the order is now, as orderStatus and version.
var (
	ErrNotPaid   = fault.New(fault.Conflict, "not_paid", "The order is not paid; the kitchen does not cook it yet.")
	ErrWrongStep = fault.New(fault.Conflict, "wrong_step", "The order is not where this step begins.")
	ErrChanged   = fault.New(fault.Conflict, "changed", "The order has changed; look at it again.")
	ErrVoided    = fault.New(fault.Conflict, "voided",
		"The order's money went back: only who has seen that, by its version, can clear it.")
	ErrRecallOver = fault.New(fault.Conflict, "recall_over", "The order was served too long ago to be recalled.")
	ErrLine       = fault.New(fault.NotFound, "order_line_not_found", "The order has no such line.")
)

// stages is the way of an order through the kitchen.
func (o *Order) stages() []Status {
	last := Completed
	if o.Kind == DineIn {
		last = Served
	}
	return []Status{Placed, Accepted, Preparing, Ready, last}
}

// aims is which of the stages a step leads to, and the first from which it can be taken.
var aims = map[StepKind]struct{ to, from int }{Accept: {1, 0}, Start: {2, 0}, Done: {3, 2}, Serve: {4, 3}}

// Served tells whether an order has come to its end in the kitchen.
func (o *Order) served() bool { return o.Status == Served || o.Status == Completed }

// Voided tells whether an order's money has gone back, or is about to, as a whole.
func (o *Order) Voided() bool { return o.PaymentStatus == RefundDue || o.PaymentStatus == Refunded }

// path is where a step leads an order, stage by stage; nothing when it has been there before.
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
		return o.back(stages, at, s.Today, now)
	case o.served() || o.VoidSeen:
		return nil, nil
	case o.Voided() && s.Version == 0: // a tap that was meant for a dish must not clear it
		return nil, o.refuse(ErrVoided)
	case o.Voided() && !stale:
		return []Status{Voided}, nil
	case !o.Voided() && at >= aim.to:
		return nil, nil
	case stale:
		return nil, o.refuse(ErrChanged)
	case at < aim.from:
		return nil, o.refuse(ErrWrongStep)
	}
	return stages[at+1 : aim.to+1], nil
}

// back is one step back. What was cleared because its money went back is shown again as it was.
func (o *Order) back(stages []Status, at int, today string, now time.Time) ([]Status, error) {
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

// markable tells why a line cannot be ticked off.
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

// refuse adds how the order is now to a refusal.
func (o *Order) refuse(f *fault.Error) error {
	return f.With("orderStatus", o.Status).With("version", o.Version)
}

// Standing gives the steps of an order that were not taken back. That the kitchen has noticed something is no step.
func Standing(steps []StepTaken) []StepTaken {
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
